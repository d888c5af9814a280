"""Evaluation of the scalar operations of Hercules IR: WGSL's run-time semantics, for every width.

Scalar values are Python's: bool, an int in the range of its type, a float that is exact in its type. Each function
returns a kernel for the given types; kernels are total and never raise. See `scalars` and `arithmetic` of `ir`
for WGSL's own types.
"""

from __future__ import annotations

import math
import operator
import struct
import typing
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final, TypeAlias, assert_never

from .. import scalars
from .. import types as wgsl
from ..arithmetic import float_arithmetic
from ..scalars import Mode, round_fraction, rounder, scalar_converter
from .nodes import AtomicOp, BinaryOp, Bool, Float, Integer, Type, UnaryOp
from .types import BOOL, F16, F32, F64, I32, U32, Scalar

ScalarValue: TypeAlias = bool | int | float
Kernel1: TypeAlias = Callable[[ScalarValue], ScalarValue]
Kernel2: TypeAlias = Callable[[ScalarValue, ScalarValue], ScalarValue]

_WGSL: Final[dict[Type, wgsl.Scalar]] = {
    BOOL: wgsl.BOOL,
    I32: wgsl.I32,
    U32: wgsl.U32,
    F16: wgsl.F16,
    F32: wgsl.F32,
    F64: wgsl.ABSTRACT_FLOAT,
}
_COMPARE: Final[dict[BinaryOp, Callable[..., bool]]] = {
    BinaryOp.LESS: operator.lt,
    BinaryOp.LESS_EQUAL: operator.le,
    BinaryOp.GREATER: operator.gt,
    BinaryOp.GREATER_EQUAL: operator.ge,
    BinaryOp.EQUAL: operator.eq,
    BinaryOp.NOT_EQUAL: operator.ne,
}
_BITWISE: Final[dict[BinaryOp, Callable[[int, int], int]]] = {
    BinaryOp.AND: int.__and__,
    BinaryOp.OR: int.__or__,
    BinaryOp.XOR: int.__xor__,
}
_LOGICAL: Final[dict[BinaryOp, Callable[[bool, bool], bool]]] = {
    BinaryOp.AND: bool.__and__,
    BinaryOp.OR: bool.__or__,
    BinaryOp.XOR: bool.__xor__,
}


class UnknownOperation(Exception):
    """An operation that its operand types do not have."""


def integer_range(type: Integer) -> tuple[int, int]:
    """The least and the greatest value."""
    return scalars.integer_range(type.bits, signed=type.signed)


def wrapper(type: Integer) -> Callable[[int], int]:
    """The function that wraps any integer to the range of the type."""
    mask, half = (1 << type.bits) - 1, 1 << (type.bits - 1)
    if type.signed:
        return lambda value: ((value + half) & mask) - half
    return lambda value: value & mask


def unary(op: UnaryOp, type: Scalar) -> Kernel1:
    """Negation of a number; complement of a bool or of an integer's bits."""
    match op, type:
        case UnaryOp.NEGATE, Float():
            return operator.neg
        case UnaryOp.NEGATE, Integer():
            wrap = wrapper(type)
            return lambda value: wrap(-int(value))
        case UnaryOp.NOT, Bool():
            return operator.not_
        case UnaryOp.NOT, Integer():
            wrap = wrapper(type)
            return lambda value: wrap(~int(value))
        case _:
            raise UnknownOperation(f"no {op.value} of this type")


def binary(op: BinaryOp, type: Scalar) -> Kernel2:
    """The operation on two values of one type."""
    if op in _COMPARE and (not isinstance(type, Bool) or op in (BinaryOp.EQUAL, BinaryOp.NOT_EQUAL)):
        return _COMPARE[op]
    # The kernels are of the operands' own type, which the type of kernels in common cannot say.
    found: object
    match type:
        case Bool():
            found = _LOGICAL.get(op)
        case Float():
            found = _float_binary(op, type)
        case Integer():
            found = _BITWISE.get(op) or _integer_binary(op, type)
        case _:
            assert_never(type)
    if found is None:
        raise UnknownOperation(f"no {op.value} of this type")
    return typing.cast(Kernel2, found)


def _float_binary(op: BinaryOp, type: Float) -> Callable[[float, float], float] | None:
    kernels = float_arithmetic(_WGSL[type], Mode.RUNTIME)
    table: dict[BinaryOp, Callable[[float, float], float]] = {
        BinaryOp.ADD: kernels.add,
        BinaryOp.SUB: kernels.subtract,
        BinaryOp.MUL: kernels.multiply,
        BinaryOp.DIV: kernels.divide,
        BinaryOp.REM: kernels.remainder,
    }
    return table.get(op)


def _integer_binary(op: BinaryOp, type: Integer) -> Callable[[int, int], int] | None:
    wrap = wrapper(type)
    shift_mask = type.bits - 1
    table: dict[BinaryOp, Callable[[int, int], int]] = {
        BinaryOp.ADD: lambda a, b: wrap(a + b),
        BinaryOp.SUB: lambda a, b: wrap(a - b),
        BinaryOp.MUL: lambda a, b: wrap(a * b),
        BinaryOp.DIV: lambda a, b: wrap(_quotient(a, b)) if b else a,
        BinaryOp.REM: lambda a, b: a - b * _quotient(a, b) if b else 0,
        BinaryOp.SHIFT_LEFT: lambda a, b: wrap(a << (b & shift_mask)),
        BinaryOp.SHIFT_RIGHT: lambda a, b: a >> (b & shift_mask),
    }
    return table.get(op)


def _quotient(a: int, b: int) -> int:
    """Truncated towards zero; the least integer by -1 wraps to itself."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def cast(source: Scalar, target: Scalar) -> Kernel1:
    """WGSL's value conversion: integers wrap, floats saturate (NaN gives 0), bool is 0 or 1, and not zero is true."""
    if source == target:
        return lambda value: value
    left, right = _WGSL.get(source), _WGSL.get(target)
    if left is not None and right is not None:
        return scalar_converter(left, right, Mode.RUNTIME)
    match source, target:
        case _, Bool():
            return bool
        case Float(), Integer():
            return lambda value: _saturated(float(value), target)
        case _, Integer():
            wrap = wrapper(target)
            return lambda value: wrap(int(value))
        case Float(), Float():
            return rounder(_WGSL[target])
        case _, Float():
            scalar = _WGSL[target]
            return lambda value: round_fraction(scalar, Fraction(value))


def _saturated(value: float, target: Integer) -> int:
    low, high = integer_range(target)
    if value != value:
        return 0
    return low if value <= low else high if value >= high else int(value)


_FLOAT_CODES: Final = {16: "<e", 32: "<f", 64: "<d"}
_INTEGER_CODES: Final = {8: "b", 16: "h", 32: "i", 64: "q"}


def _code(type: Scalar) -> str:
    match type:
        case Float(bits):
            return _FLOAT_CODES[bits]
        case Integer(bits, signed):
            return "<" + (_INTEGER_CODES[bits] if signed else _INTEGER_CODES[bits].upper())
        case Bool():
            raise UnknownOperation("no bitcast of a bool")
        case _:
            assert_never(type)


def bit_width(type: Scalar) -> int | None:
    """The bits of a number; None for a bool."""
    return None if isinstance(type, Bool) else type.bits


def bitcast(source: Scalar, target: Scalar) -> Kernel1:
    """The same bits as another type of the same width."""
    packer, unpacker = struct.Struct(_code(source)), struct.Struct(_code(target))
    if packer.size != unpacker.size:
        raise UnknownOperation("no bitcast between these types")

    def run(value: ScalarValue) -> ScalarValue:
        (result,) = unpacker.unpack(packer.pack(value))
        assert isinstance(result, (int, float))
        return result

    return run


def intrinsic(name: str, arguments: Sequence[Scalar], result: Scalar) -> Callable[[Sequence[ScalarValue]], ScalarValue]:
    """WGSL's builtin function of scalars. Raises UnknownOperation where WGSL has none."""
    from .. import builtins

    parameters = [_WGSL.get(it) for it in arguments]
    types = tuple(it for it in parameters if it is not None)
    returned = _WGSL.get(result)
    function = builtins.builtin(name)
    if function is None or not function.is_const or len(types) != len(arguments) or returned is None:
        raise UnknownOperation(f"no builtin function {name!r} of these types")
    match = builtins.resolve_call(function, (), types)
    if not isinstance(match, builtins.Match) or match.param_types != types or match.result_type is not returned:
        raise UnknownOperation(f"no builtin function {name!r} of these types")
    run = builtins.evaluator(name, (), types, returned, Mode.RUNTIME)

    def call(values: Sequence[ScalarValue]) -> ScalarValue:
        value = run(values)
        assert isinstance(value, (bool, int, float))
        return value

    return call


def atomic(op: AtomicOp, type: Integer) -> Callable[[int, Sequence[int]], int]:
    """The new value from the old one and the operands."""
    wrap = wrapper(type)
    match op:
        case AtomicOp.LOAD:
            return lambda old, _: old
        case AtomicOp.STORE | AtomicOp.EXCHANGE:
            return lambda _, operands: operands[0]
        case AtomicOp.ADD:
            return lambda old, operands: wrap(old + operands[0])
        case AtomicOp.SUB:
            return lambda old, operands: wrap(old - operands[0])
        case AtomicOp.MAX:
            return lambda old, operands: max(old, operands[0])
        case AtomicOp.MIN:
            return lambda old, operands: min(old, operands[0])
        case AtomicOp.AND:
            return lambda old, operands: old & operands[0]
        case AtomicOp.OR:
            return lambda old, operands: old | operands[0]
        case AtomicOp.XOR:
            return lambda old, operands: old ^ operands[0]
        case AtomicOp.COMPARE_EXCHANGE:
            return lambda old, operands: operands[1] if old == operands[0] else old


ATOMIC_OPERANDS: Final = {AtomicOp.LOAD: 0, AtomicOp.COMPARE_EXCHANGE: 2}
"""The number of operands of atomic operations that do not have exactly one."""


def zero(type: Scalar) -> ScalarValue:
    """The zero value."""
    match type:
        case Bool():
            return False
        case Integer():
            return 0
        case Float():
            return 0.0
        case _:
            assert_never(type)


def is_exact(type: Scalar, value: ScalarValue) -> bool:
    """Whether a Python value is a value of the type."""
    match type:
        case Bool():
            return isinstance(value, bool)
        case Integer():
            low, high = integer_range(type)
            return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        case Float():
            return isinstance(value, float) and (math.isnan(value) or rounder(_WGSL[type])(value) == value)
        case _:
            assert_never(type)
