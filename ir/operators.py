"""The operators of WGSL: their typing rules and their evaluation, shared by every stage.

Typing: `unary_result(op, operand)` and `binary_result(op, left, right)` give an `OperatorMatch`: the types that the
operands convert to, and the type of the result; None where no rule fits. Operand types may be abstract; a Reference
is its store type. Pass `concrete=True` when some operand is not a const-expression: then no abstract type survives
(WGSL, "Overload Resolution").

Evaluation: `unary_evaluator` and `binary_evaluator` take the operand types of a match and a `Mode`, and return a
function to be called many times; `evaluate_unary` and `evaluate_binary` do it once. `&&` and `||` evaluate like `&` and
`|`: callers implement the short circuit. `check_right_operand` finds the errors of a constant right operand whose left
one is unknown.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias, assert_never, cast

from ..base.records import dataclass
from .arithmetic import check_divisor, check_shift, float_arithmetic, int_arithmetic
from .constants import RawValue
from .conversions import common_type, concretize, conversion_rank, elements, is_abstract
from .ops import BinaryOp, UnaryOp
from .scalars import Mode, wrap
from .types import BOOL, U32, Matrix, Reference, Scalar, Type, Vector, matrix, scalar_of, vector, with_scalar

__all__ = [
    "BinaryEvaluator",
    "OperatorMatch",
    "UnaryEvaluator",
    "binary_evaluator",
    "binary_result",
    "check_right_operand",
    "common_type",
    "concretize",
    "conversion_rank",
    "evaluate_binary",
    "evaluate_unary",
    "is_abstract",
    "unary_evaluator",
    "unary_result",
]

UnaryEvaluator: TypeAlias = Callable[[RawValue], RawValue]
BinaryEvaluator: TypeAlias = Callable[[RawValue, RawValue], RawValue]

_ARITHMETIC = frozenset({BinaryOp.ADD, BinaryOp.SUBTRACT, BinaryOp.MULTIPLY, BinaryOp.DIVIDE, BinaryOp.REMAINDER})
_SHIFTS = frozenset({BinaryOp.SHIFT_LEFT, BinaryOp.SHIFT_RIGHT})


@dataclass(frozen=True, slots=True)
class OperatorMatch:
    """The typing rule that applies: the types that the operands convert to, and the type of the result."""

    operands: tuple[Type, ...]
    result: Type


def unary_result(op: UnaryOp, operand: Type, *, concrete: bool = False) -> OperatorMatch | None:
    """The rule for `-`, `~` or `!`; None where there is none."""
    type = _value_type(operand, concrete)
    if not isinstance(type, (Scalar, Vector)):
        return None
    scalar = type if isinstance(type, Scalar) else type.element
    match op:
        case UnaryOp.NEGATE:
            fits = scalar.is_numeric and scalar is not U32
        case UnaryOp.COMPLEMENT:
            fits = scalar.is_integer
        case UnaryOp.NOT:
            fits = scalar is BOOL
        case UnaryOp.ADDRESS_OF | UnaryOp.INDIRECTION:
            fits = False
        case _:
            assert_never(op)
    return OperatorMatch((type,), type) if fits else None


@cache
def binary_result(op: BinaryOp, left: Type, right: Type, *, concrete: bool = False) -> OperatorMatch | None:
    """The rule for a binary operator; None where there is none."""
    left, right = _value_type(left, False), _value_type(right, False)
    if op in _SHIFTS:
        return _shift_result(left, right, concrete)
    operands = _common_operands(left, right, concrete)
    if operands is None:
        return None
    left, right = operands
    scalar = scalar_of(left)
    if scalar is None or not _accepts(op, scalar):
        return None
    result = _arithmetic_result(op, left, right) if op in _ARITHMETIC else left if left is right else None
    if result is None or (op not in _ARITHMETIC and isinstance(result, Matrix)):
        return None
    if op.is_short_circuit and result is not BOOL:
        return None
    return OperatorMatch(operands, _bools(result) if op.is_comparison else result)


def _value_type(type: Type, concrete: bool) -> Type:
    type = type.store if isinstance(type, Reference) else type
    return concretize(type) if concrete else type


def _common_operands(left: Type, right: Type, concrete: bool) -> tuple[Scalar | Vector | Matrix, ...] | None:
    """The types of both operands, converted to the most preferred scalar type that both convert to."""
    if not isinstance(left, (Scalar, Vector, Matrix)) or not isinstance(right, (Scalar, Vector, Matrix)):
        return None
    scalars = [scalar for scalar in (scalar_of(left), scalar_of(right)) if scalar is not None]
    common = common_type(scalars)
    if common is None:
        return None
    scalar = scalar_of(concretize(common) if concrete else common)
    assert scalar is not None
    return with_scalar(left, scalar), with_scalar(right, scalar)


def _accepts(op: BinaryOp, scalar: Scalar) -> bool:
    match op:
        case BinaryOp.ADD | BinaryOp.SUBTRACT | BinaryOp.MULTIPLY | BinaryOp.DIVIDE | BinaryOp.REMAINDER:
            return scalar.is_numeric
        case BinaryOp.AND | BinaryOp.OR:
            return scalar.is_integer or scalar is BOOL
        case BinaryOp.XOR | BinaryOp.SHIFT_LEFT | BinaryOp.SHIFT_RIGHT:
            return scalar.is_integer
        case BinaryOp.EQUAL | BinaryOp.NOT_EQUAL:
            return True
        case BinaryOp.LESS | BinaryOp.LESS_EQUAL | BinaryOp.GREATER | BinaryOp.GREATER_EQUAL:
            return scalar.is_numeric
        case BinaryOp.LOGICAL_AND | BinaryOp.LOGICAL_OR:
            return scalar is BOOL
        case _:
            assert_never(op)


def _arithmetic_result(op: BinaryOp, left: Type, right: Type) -> Type | None:
    """The type of the result, for operands with the same numeric scalar type."""
    match left, right:
        case Scalar() | Vector(), Scalar() | Vector():
            if left is right or isinstance(right, Scalar):
                return left
            return right if isinstance(left, Scalar) else None
        case Matrix(), Matrix() if op in (BinaryOp.ADD, BinaryOp.SUBTRACT):
            return left if left is right else None
        case _ if op is BinaryOp.MULTIPLY:
            return _product(left, right)
        case _:
            return None


def _product(left: Type, right: Type) -> Type | None:
    match left, right:
        case Matrix(), Scalar():
            return left
        case Scalar(), Matrix():
            return right
        case Matrix(columns=columns, rows=rows, element=element), Vector(width=width):
            return vector(rows, element) if width == columns else None
        case Vector(width=width), Matrix(columns=columns, rows=rows, element=element):
            return vector(columns, element) if width == rows else None
        case Matrix(), Matrix():
            return matrix(right.columns, left.rows, left.element) if left.columns == right.rows else None
        case _:
            return None


def _shift_result(left: Type, right: Type, concrete: bool) -> OperatorMatch | None:
    left = _value_type(left, concrete)
    if not isinstance(left, (Scalar, Vector)):
        return None
    scalar = left if isinstance(left, Scalar) else left.element
    amount = with_scalar(left, U32)
    if not scalar.is_integer or conversion_rank(right, amount) is None:
        return None
    return OperatorMatch((left, amount), left)


def _bools(type: Type) -> Type:
    return vector(type.width, BOOL) if isinstance(type, Vector) else BOOL


# Evaluation


def evaluate_unary(op: UnaryOp, type: Type, value: RawValue, mode: Mode) -> RawValue:
    """The value of an unary operation. Raises EvaluationError in CONST mode only."""
    return unary_evaluator(op, type, mode)(value)


def evaluate_binary(
    op: BinaryOp, left_type: Type, right_type: Type, left: RawValue, right: RawValue, mode: Mode
) -> RawValue:
    """The value of a binary operation. Raises EvaluationError in CONST mode only."""
    return binary_evaluator(op, left_type, right_type, mode)(left, right)


@cache
def unary_evaluator(op: UnaryOp, type: Type, mode: Mode) -> UnaryEvaluator:
    """The function that computes `op` on values of a type that `unary_result` accepted. It never raises."""
    scalar = scalar_of(type)
    assert scalar is not None
    kernel = _unary_kernel(op, scalar)
    return (lambda value: tuple(map(kernel, elements(value)))) if isinstance(type, Vector) else kernel


def _unary_kernel(op: UnaryOp, scalar: Scalar) -> UnaryEvaluator:
    match op:
        case UnaryOp.NOT:
            return operator.not_
        case UnaryOp.COMPLEMENT:
            return cast(UnaryEvaluator, _complement_u32 if scalar is U32 else operator.invert)
        case UnaryOp.NEGATE if scalar.is_float:
            return cast(UnaryEvaluator, operator.neg)
        case UnaryOp.NEGATE:
            return cast(UnaryEvaluator, _negation(scalar))
        case UnaryOp.ADDRESS_OF | UnaryOp.INDIRECTION:
            raise TypeError(f"'{op.value}' has no value to compute")
        case _:
            assert_never(op)


def _complement_u32(value: int) -> int:
    return value ^ 0xFFFFFFFF


def _negation(scalar: Scalar) -> Callable[[int], int]:
    """The most negative value is its own negation, even as a constant."""
    return lambda value: wrap(scalar, -value)


@cache
def binary_evaluator(op: BinaryOp, left: Type, right: Type, mode: Mode) -> BinaryEvaluator:
    """The function that computes `op` on values of the operand types of an `OperatorMatch`."""
    scalar = scalar_of(left)
    assert scalar is not None
    if op is BinaryOp.MULTIPLY and (isinstance(left, Matrix) or isinstance(right, Matrix)):
        return _matrix_product(left, right, mode)
    kernel = _binary_kernel(op, scalar, mode)
    match left, right:
        case Matrix(), Matrix():
            return _zip(_zip(kernel))
        case Vector(), Vector():
            return _zip(kernel)
        case Vector(), Scalar():
            return lambda a, b: tuple([kernel(x, b) for x in elements(a)])
        case Scalar(), Vector():
            return lambda a, b: tuple([kernel(a, y) for y in elements(b)])
        case _:
            return kernel


def _zip(kernel: BinaryEvaluator) -> BinaryEvaluator:
    return lambda a, b: tuple(map(kernel, elements(a), elements(b)))


_PLAIN_KERNELS: dict[BinaryOp, Callable[..., object]] = {
    BinaryOp.AND: int.__and__,
    BinaryOp.OR: int.__or__,
    BinaryOp.XOR: int.__xor__,
    BinaryOp.EQUAL: operator.eq,
    BinaryOp.NOT_EQUAL: operator.ne,
    BinaryOp.LESS: operator.lt,
    BinaryOp.LESS_EQUAL: operator.le,
    BinaryOp.GREATER: operator.gt,
    BinaryOp.GREATER_EQUAL: operator.ge,
}


_BOOL_KERNELS: dict[BinaryOp, Callable[..., bool]] = {
    BinaryOp.AND: bool.__and__,
    BinaryOp.OR: bool.__or__,
    BinaryOp.LOGICAL_AND: bool.__and__,
    BinaryOp.LOGICAL_OR: bool.__or__,
}


def _binary_kernel(op: BinaryOp, scalar: Scalar, mode: Mode) -> BinaryEvaluator:
    if scalar is BOOL and op in _BOOL_KERNELS:
        return _BOOL_KERNELS[op]
    if op in _PLAIN_KERNELS:
        return cast(BinaryEvaluator, _PLAIN_KERNELS[op])
    name = op.name.lower()
    arithmetic = float_arithmetic(scalar, mode) if scalar.is_float else int_arithmetic(scalar, mode)
    return cast(BinaryEvaluator, getattr(arithmetic, name))


def _matrix_product(left: Type, right: Type, mode: Mode) -> BinaryEvaluator:
    """WGSL, "Matrix arithmetic". Sums go from the first product to the last, each step rounded."""
    match left, right:
        case Matrix(), Scalar():
            scale = binary_evaluator(BinaryOp.MULTIPLY, left.column, right, mode)
            return lambda m, s: tuple([scale(column, s) for column in elements(m)])
        case Scalar(), Matrix():
            scale = binary_evaluator(BinaryOp.MULTIPLY, left, right.column, mode)
            return lambda s, m: tuple([scale(s, column) for column in elements(m)])
        case Vector(), Matrix():
            dot = dot_product(left.element, mode)
            return lambda v, m: tuple([dot(v, column) for column in elements(m)])
        case Matrix(), Vector():
            dot = dot_product(left.element, mode)
            return lambda m, v: tuple([dot(row, v) for row in transposed(m)])
        case Matrix(), Matrix():
            dot = dot_product(left.element, mode)

            def multiply(a: RawValue, b: RawValue) -> RawValue:
                rows = transposed(a)
                return tuple([tuple([dot(row, column) for row in rows]) for column in elements(b)])

            return multiply
        case _:
            raise TypeError(f"no product of {left} and {right}")


def transposed(value: RawValue) -> Sequence[Sequence[RawValue]]:
    """The rows of a matrix given by its columns."""
    return list(zip(*map(elements, elements(value)), strict=True))


@cache
def dot_product(scalar: Scalar, mode: Mode) -> BinaryEvaluator:
    """The function that sums the products of the components of two vectors, in order, each step in the type."""
    add = _binary_kernel(BinaryOp.ADD, scalar, mode)
    multiply = _binary_kernel(BinaryOp.MULTIPLY, scalar, mode)

    def dot(a: RawValue, b: RawValue) -> RawValue:
        products = map(multiply, elements(a), elements(b))
        total = next(products)
        for product in products:
            total = add(total, product)
        return total

    return dot


def check_right_operand(op: BinaryOp, left: Type, right: Type, value: RawValue) -> None:
    """Raises EvaluationError for a constant right operand that is an error with any left operand: a zero divisor, or a
    shift amount that is too large.

    `left` and `right` are the operand types of a match.
    """
    scalar = scalar_of(left)
    if scalar is None or not scalar.is_integer:
        return
    components = elements(value) if isinstance(right, Vector) else (value,)
    for component in components:
        assert isinstance(component, int)
        if op in (BinaryOp.DIVIDE, BinaryOp.REMAINDER):
            check_divisor(component)
        elif op in _SHIFTS:
            check_shift(scalar, component)
