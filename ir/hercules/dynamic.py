"""Dynamic constants: u64 expressions of literals and of a function's dynamic-constant parameters.

The functions here fold while they build, so that equal extents tend to be equal expressions. Their
arithmetic is in `base/u64`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, assert_never

from ...base import u64
from .nodes import DynamicBinary, DynamicConstant, DynamicLiteral, DynamicOp, DynamicParameter

MASK: Final = u64.MASK
ZERO: Final = DynamicLiteral(0)
ONE: Final = DynamicLiteral(1)

_COMMUTATIVE: Final = (DynamicOp.ADD, DynamicOp.MUL, DynamicOp.MIN, DynamicOp.MAX)
# x op literal = x
_RIGHT_IDENTITY: Final[Mapping[DynamicOp, int]] = {
    DynamicOp.ADD: 0,
    DynamicOp.SUB: 0,
    DynamicOp.MUL: 1,
    DynamicOp.DIV: 1,
    DynamicOp.MAX: 0,
}
# x op literal = 0
_RIGHT_ABSORBER: Final[Mapping[DynamicOp, int]] = {
    DynamicOp.MUL: 0,
    DynamicOp.DIV: 0,
    DynamicOp.REM: 0,
    DynamicOp.MIN: 0,
}


def literal(value: int) -> DynamicLiteral:
    """A literal, taken modulo 2^64."""
    return DynamicLiteral(value & MASK)


def binary(op: DynamicOp, lhs: DynamicConstant, rhs: DynamicConstant) -> DynamicConstant:
    """`lhs op rhs`, folded where a literal decides; a literal operand of a commutative operation stands right."""
    if isinstance(lhs, DynamicLiteral) and isinstance(rhs, DynamicLiteral):
        return DynamicLiteral(compute(op, lhs.value, rhs.value))
    if isinstance(lhs, DynamicLiteral) and op in _COMMUTATIVE:
        lhs, rhs = rhs, lhs
    if isinstance(rhs, DynamicLiteral):
        if _RIGHT_IDENTITY.get(op) == rhs.value:
            return lhs
        if _RIGHT_ABSORBER.get(op) == rhs.value or (op is DynamicOp.REM and rhs.value == 1):
            return ZERO
    if lhs == rhs and op in (DynamicOp.MIN, DynamicOp.MAX):
        return lhs
    if lhs == rhs and op is DynamicOp.SUB:
        return ZERO
    return DynamicBinary(op, lhs, rhs)


def add(lhs: DynamicConstant, rhs: DynamicConstant) -> DynamicConstant:
    """`lhs + rhs`."""
    return binary(DynamicOp.ADD, lhs, rhs)


def sub(lhs: DynamicConstant, rhs: DynamicConstant) -> DynamicConstant:
    """`lhs - rhs`."""
    return binary(DynamicOp.SUB, lhs, rhs)


def mul(lhs: DynamicConstant, rhs: DynamicConstant) -> DynamicConstant:
    """`lhs * rhs`."""
    return binary(DynamicOp.MUL, lhs, rhs)


def div(lhs: DynamicConstant, rhs: DynamicConstant) -> DynamicConstant:
    """`lhs / rhs`."""
    return binary(DynamicOp.DIV, lhs, rhs)


def rem(lhs: DynamicConstant, rhs: DynamicConstant) -> DynamicConstant:
    """`lhs % rhs`."""
    return binary(DynamicOp.REM, lhs, rhs)


def ceil_div(lhs: DynamicConstant, count: int) -> DynamicConstant:
    """`lhs / count`, rounded up, without a sum that could wrap."""
    width = literal(count)
    full = div(lhs, width)
    return add(full, binary(DynamicOp.MIN, rem(lhs, width), ONE))


def ceil_divided(constant: DynamicConstant, count: int) -> DynamicConstant | None:
    """What `ceil_div` divided by a literal to make an expression, if it did."""
    match constant:
        case DynamicBinary(DynamicOp.ADD, DynamicBinary(DynamicOp.DIV, lhs, DynamicLiteral(value)), _):
            return lhs if value == count and constant == ceil_div(lhs, count) else None
        case _:
            return None


def not_below(constant: DynamicConstant, change: int = 0) -> Iterator[tuple[DynamicConstant, int]]:
    """Pairs of another expression and a number such that a positive `constant + change` is at most their sum."""
    yield constant, change
    match constant:
        case DynamicBinary(DynamicOp.ADD, lhs, DynamicLiteral(value)):
            yield from not_below(lhs, change + value)
        case DynamicBinary(DynamicOp.SUB, DynamicBinary(DynamicOp.MAX, lhs, rhs), least) if rhs == least:
            yield from not_below(lhs, change - rhs.value if isinstance(rhs, DynamicLiteral) else change)
        case DynamicBinary(DynamicOp.REM | DynamicOp.DIV, lhs, _):
            yield from not_below(lhs, change)
        case DynamicBinary(DynamicOp.MIN, lhs, rhs):
            yield from not_below(lhs, change)
            yield from not_below(rhs, change)
        case _:
            return


def _greatest(op: DynamicOp, left: int, right: int, rhs: DynamicConstant) -> int:
    match op:
        case DynamicOp.ADD:
            return min(left + right, MASK)
        case DynamicOp.MUL:
            return min(left * right, MASK)
        case DynamicOp.MIN:
            return min(left, right)
        case DynamicOp.MAX:
            return max(left, right)
        case DynamicOp.DIV:
            return left // rhs.value if isinstance(rhs, DynamicLiteral) and rhs.value else left
        case DynamicOp.REM:
            return min(left, max(right - 1, 0))
        case DynamicOp.SUB:
            return MASK
        case _:
            assert_never(op)


def compute(op: DynamicOp, lhs: int, rhs: int) -> int:
    """The value of one operation."""
    return u64.COMPUTE[op.value](lhs, rhs)


def evaluate(constant: DynamicConstant, values: Sequence[int]) -> int:
    """The value of an expression, given the values of the function's dynamic-constant parameters."""
    match constant:
        case DynamicLiteral(value):
            return value
        case DynamicParameter(index):
            return values[index]
        case DynamicBinary(op, lhs, rhs):
            return compute(op, evaluate(lhs, values), evaluate(rhs, values))
        case _:
            assert_never(constant)


def substitute(constant: DynamicConstant, arguments: Sequence[DynamicConstant]) -> DynamicConstant:
    """The expression with each parameter replaced by the argument of its index, folded."""
    match constant:
        case DynamicLiteral():
            return constant
        case DynamicParameter(index):
            return arguments[index]
        case DynamicBinary(op, lhs, rhs):
            return binary(op, substitute(lhs, arguments), substitute(rhs, arguments))
        case _:
            assert_never(constant)


def greatest(constant: DynamicConstant, parameter: int, parts: Mapping[DynamicConstant, int] | None = None) -> int:
    """An upper bound of an expression whose parameters are at most `parameter`, and whose `parts` are at most that."""
    if parts is not None and constant in parts:
        return parts[constant]
    match constant:
        case DynamicLiteral(value):
            return value
        case DynamicParameter():
            return parameter
        case DynamicBinary(DynamicOp.SUB, DynamicBinary(DynamicOp.MAX, lhs, rhs), least) if least in (lhs, rhs):
            return greatest(lhs if least == rhs else rhs, parameter, parts)
        case DynamicBinary(op, lhs, rhs):
            return _greatest(op, greatest(lhs, parameter, parts), greatest(rhs, parameter, parts), rhs)
        case _:
            assert_never(constant)


def parts(constant: DynamicConstant) -> Iterator[DynamicConstant]:
    """An expression and all the expressions inside of it, with repetitions."""
    yield constant
    if isinstance(constant, DynamicBinary):
        yield from parts(constant.lhs)
        yield from parts(constant.rhs)


def parameters(constant: DynamicConstant) -> Iterator[int]:
    """The indices of the parameters in an expression, with repetitions."""
    match constant:
        case DynamicLiteral():
            return
        case DynamicParameter(index):
            yield index
        case DynamicBinary(_, lhs, rhs):
            yield from parameters(lhs)
            yield from parameters(rhs)
        case _:
            assert_never(constant)
