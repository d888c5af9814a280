"""How often a counted loop runs, as a dynamic constant.

A loop is counted if its header compares a counter with a bound and the counter moves by a constant step, each of them
a mathematical integer that never wraps. A `Bound` is such an integer: a dynamic constant plus a literal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from ...ir.hercules import dynamic
from ...ir.hercules.intervals import limits
from ...ir.hercules.nodes import (
    Binary,
    BinaryOp,
    Bitcast,
    Cast,
    ConstantNode,
    ControlNode,
    DynamicConstant,
    DynamicConstantNode,
    DynamicLiteral,
    DynamicOp,
    FloatingNode,
    Integer,
    IntegerConstant,
    Node,
    PinnedNode,
    Type,
    ZeroConstant,
)

_DEPTH = 8
"""Operations one after the other by which a bound may be computed."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The integer `base + offset`, which may be negative."""

    base: DynamicConstant
    offset: int

    def moved(self, change: int) -> Bound:
        """The integer plus a literal."""
        return Bound(self.base, self.offset + change)

    @property
    def literal(self) -> int | None:
        """Its value, if no dynamic constant decides it."""
        return self.offset if self.base == dynamic.ZERO else None


@dataclass(frozen=True, slots=True)
class Count:
    """A loop goes on while `counter + ahead` is below `limit`, or above it if `step` is negative. The counter begins
    at `start`.
    """

    start: Bound
    step: int
    ahead: int
    limit: Bound


@dataclass(frozen=True, slots=True)
class Bounds:
    """Integers of a function whose dynamic constants are numbers of `counts` bits."""

    types: Mapping[Node, Type]
    counts: int

    def greatest(self, bound: Bound) -> int:
        """An upper bound of an integer. Its lower bound is its offset."""
        return dynamic.greatest(bound.base, (1 << self.counts) - 1) + bound.offset

    def fits(self, bound: Bound, type: Integer) -> bool:
        """Whether a type surely has the integer."""
        everything = limits(type)
        return everything.low <= bound.offset and self.greatest(bound) <= everything.high

    def of(self, node: Node, depth: int = _DEPTH) -> Bound | None:
        """The exact value of an integer, if it is known when the program starts and no operation wraps."""
        type = self.types.get(node)
        if not isinstance(type, Integer) or depth == 0:
            return None
        match node:
            case DynamicConstantNode(value):
                return Bound(dynamic.ZERO, value.value) if isinstance(value, DynamicLiteral) else Bound(value, 0)
            case ConstantNode(IntegerConstant(value=value)):
                return Bound(dynamic.ZERO, value)
            case ConstantNode(ZeroConstant()):
                return Bound(dynamic.ZERO, 0)
            case Cast(operand=operand) | Bitcast(operand=operand):
                return self._converted(self.of(operand, depth - 1), type)
            case Binary(op, lhs, rhs):
                left, right = self.of(lhs, depth - 1), self.of(rhs, depth - 1)
                found = None if left is None or right is None else self._computed(op, left, right)
                return found if found is not None and self.fits(found, type) else None
            case FloatingNode() | PinnedNode() | ControlNode():
                return None
            case _:
                assert_never(node)

    def _converted(self, found: Bound | None, type: Integer) -> Bound | None:
        if found is None or self.fits(found, type):
            return found
        if type.signed or found.offset != 0:
            return None
        return Bound(dynamic.rem(found.base, dynamic.literal(1 << type.bits)), 0)

    def _computed(self, op: BinaryOp, left: Bound, right: Bound) -> Bound | None:
        match op:
            case BinaryOp.ADD:
                sum = Bound(dynamic.add(left.base, right.base), left.offset + right.offset)
                return sum if self._most(left) + self._most(right) <= dynamic.MASK else None
            case BinaryOp.SUB if right.literal is not None:
                return left.moved(-right.literal)
            case BinaryOp.MUL if right.literal is not None and right.literal >= 0:
                return self._multiplied(left, right.literal)
            case BinaryOp.MUL if left.literal is not None and left.literal >= 0:
                return self._multiplied(right, left.literal)
            case BinaryOp.MUL if left.offset == right.offset == 0:
                product = Bound(dynamic.mul(left.base, right.base), 0)
                return product if self._most(left) * self._most(right) <= dynamic.MASK else None
            case BinaryOp.DIV if left.offset == 0 and right.literal is not None and right.literal > 0:
                return Bound(dynamic.div(left.base, dynamic.literal(right.literal)), 0)
            case _:
                return None

    def _multiplied(self, bound: Bound, count: int) -> Bound | None:
        product = Bound(dynamic.mul(bound.base, dynamic.literal(count)), bound.offset * count)
        return product if self._most(bound) * count <= dynamic.MASK else None

    def _most(self, bound: Bound) -> int:
        return dynamic.greatest(bound.base, (1 << self.counts) - 1)

    def trips(self, count: Count, type: Integer) -> DynamicConstant | None:
        """How often a loop with this counter runs; None if the counter, or what is compared, could wrap."""
        everything = limits(type)
        if count.step > 0:
            last = self.greatest(count.limit) - 1 + count.step
            fits = last <= everything.high and last - min(count.ahead, 0) <= everything.high
            low, high = count.start, count.limit.moved(-count.ahead)
        else:
            last = count.limit.offset + 1 + count.step
            fits = last >= everything.low and last - max(count.ahead, 0) >= everything.low
            low, high = count.limit.moved(-count.ahead), count.start
        if not fits or not self.fits(count.start.moved(count.ahead), type):
            return None
        distance = self._distance(low, high)
        return None if distance is None else dynamic.ceil_div(distance, abs(count.step))

    def _distance(self, low: Bound, high: Bound) -> DynamicConstant | None:
        """`high - low`, or 0 if that is negative."""
        least = min(low.offset, high.offset)
        low, high = low.moved(-least), high.moved(-least)
        if max(self.greatest(low), self.greatest(high)) > dynamic.MASK:
            return None
        bottom, top = (dynamic.add(it.base, dynamic.literal(it.offset)) for it in (low, high))
        if bottom == dynamic.ZERO:
            return top
        return dynamic.sub(dynamic.binary(DynamicOp.MAX, top, bottom), bottom)
