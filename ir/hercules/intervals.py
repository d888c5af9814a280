"""Ranges of integers as a lattice: intervals, and upper bounds relative to other values; transfer functions.

A `Range` holds numbers `low … high`, and for some anchors `A` a number `k` such that the value is at most `A + k`, in
mathematical integers. An anchor is a dynamic constant, or another value of the function that something is compared
with. A constant `c` is at most `A + c - l` for every `A` that is at least `l`: where ranges meet, `high` stands in for
bounds that one side lacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, assert_never

from ...base.records import dataclass, field
from .arithmetic import integer_range
from .nodes import (
    AnyScalarNode,
    Binary,
    BinaryOp,
    Bitcast,
    Cast,
    DynamicConstant,
    DynamicLiteral,
    Integer,
    Intrinsic,
    Node,
    ScalarNode,
    Select,
)


@dataclass(frozen=True, slots=True)
class Value:
    """A node as an anchor: its value where the bound holds. `least` is the least number of its type."""

    node: Node
    least: int


Anchor: TypeAlias = DynamicConstant | Value
Bounds: TypeAlias = Mapping[Anchor, int]


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from `low` to `high`, none of them above `A + k` for each `A: k` of `bounds`."""

    low: int
    high: int
    bounds: Bounds = field(default_factory=dict[Anchor, int])

    def is_below(self, extent: DynamicConstant) -> bool:
        """Whether all the numbers are less than a dynamic constant."""
        if isinstance(extent, DynamicLiteral) and self.high < extent.value:
            return True
        return self.bounds.get(extent, 0) < 0

    def meet(self, other: Range) -> Range:
        """The intersection: both ranges hold for the value."""
        bounds = dict(self.bounds)
        for anchor, most in other.bounds.items():
            bounds[anchor] = min(most, bounds.get(anchor, most))
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Range(low, max(low, high), bounds)

    def join(self, other: Range) -> Range:
        """The union: the value is in one of the ranges."""
        high = max(self.high, other.high)
        bounds = {
            anchor: most
            for anchor in {*self.bounds, *other.bounds}
            if (most := max(self.above(anchor), other.above(anchor))) < high - least(anchor)
        }
        return Range(min(self.low, other.low), high, bounds)

    def above(self, anchor: Anchor) -> int:
        """The least `k` known such that the numbers are at most `anchor + k`."""
        return self.bounds.get(anchor, self.high - least(anchor))

    def at_most(self, change: int = 0) -> Bounds:
        """Bounds of a value that is at most `change` more than this."""
        return {anchor: most + change for anchor, most in self.bounds.items()} if change else self.bounds


def least(anchor: Anchor) -> int:
    """A lower bound of an anchor."""
    return anchor.least if isinstance(anchor, Value) else 0


def limits(type: Integer) -> Range:
    """The full range of a type."""
    return Range(*integer_range(type))


_NARROWEST = 8  # bits: shift counts are taken modulo the width of their type


def such(op: BinaryOp, limit: Range, everything: Range) -> Range:
    """The range of values for which the comparison with some value of a range holds."""
    match op:
        case BinaryOp.LESS:
            return Range(everything.low, limit.high - 1, limit.at_most(-1))
        case BinaryOp.LESS_EQUAL:
            return Range(everything.low, limit.high, limit.bounds)
        case BinaryOp.GREATER:
            return Range(limit.low + 1, everything.high)
        case BinaryOp.GREATER_EQUAL:
            return Range(limit.low, everything.high)
        case BinaryOp.EQUAL:
            return limit
        case _:
            return everything


def fitted(found: Range | None, everything: Range) -> Range:
    """A mathematical result in a type: one that may wrap can be any number, though one that only leaves upwards is
    never more than it would have been.
    """
    if found is None:
        return everything
    if found.low < everything.low:
        return everything
    if found.high > everything.high:
        return Range(everything.low, everything.high, found.bounds)
    return found


def computed(node: AnyScalarNode, operands: Sequence[Range]) -> Range | None:
    """The range of the mathematical result, before wrapping; None if nothing is known."""
    match node:
        case Binary(op):
            return _binary(op, *operands) if len(operands) == 2 else None
        case Cast() | Bitcast():
            return operands[0] if operands else None
        case Select() if len(operands) == 2:
            return operands[0].join(operands[1])
        case Intrinsic("min"):
            return _least(operands[0], operands[1])
        case Intrinsic("max"):
            return _greatest(operands[0], operands[1])
        case Intrinsic("clamp"):
            return _least(_greatest(operands[0], operands[1]), operands[2])
        case ScalarNode():
            return None
        case _:
            assert_never(node)


def _least(left: Range, right: Range) -> Range:
    met = left.meet(right)
    return Range(min(left.low, right.low), min(left.high, right.high), met.bounds)


def _greatest(left: Range, right: Range) -> Range:
    joined = left.join(right)
    return Range(max(left.low, right.low), joined.high, joined.bounds)


def _binary(op: BinaryOp, left: Range, right: Range) -> Range | None:
    are_natural = left.low >= 0 and right.low >= 0
    match op:
        case BinaryOp.ADD:
            bounds = {**right.at_most(left.high), **left.at_most(right.high)}
            return Range(left.low + right.low, left.high + right.high, bounds)
        case BinaryOp.SUB:
            return Range(left.low - right.high, left.high - right.low, left.at_most(-right.low))
        case BinaryOp.MUL if are_natural:
            return Range(left.low * right.low, left.high * right.high)
        case BinaryOp.DIV if are_natural:
            return Range(0, left.high // max(right.low, 1), left.bounds)
        case BinaryOp.REM if are_natural:
            most = Range(0, max(right.high - 1, 0), right.at_most(-1) if right.low > 0 else {})
            return most.meet(Range(0, left.high, left.bounds))
        case BinaryOp.AND if left.low >= 0 or right.low >= 0:
            natural = [Range(0, it.high, it.bounds) for it in (left, right) if it.low >= 0]
            return natural[0].meet(natural[-1])
        case BinaryOp.OR | BinaryOp.XOR if are_natural:
            return Range(0, (1 << max(left.high.bit_length(), right.high.bit_length())) - 1)
        case BinaryOp.SHIFT_RIGHT if are_natural:
            count = right.low if right.low == right.high < _NARROWEST else 0
            return Range(0, left.high >> count, left.bounds)
        case BinaryOp.SHIFT_LEFT if are_natural and right.low == right.high < _NARROWEST:
            return Range(left.low << right.low, left.high << right.low)
        case _:
            return None
