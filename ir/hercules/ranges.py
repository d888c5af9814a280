"""Ranges of integers: between which numbers a value lies, and by which dynamic constants it is bounded.

`ranges(plan)` solves for all integers of a scheduled function, with the facts of the branches around each node (see
`conditions`); `in_range(plan)` are the positions that are surely inside their arrays, so that nobody needs to clamp
them. Both hold for the schedule they are asked of, and for threads that come to the place: a lane that is masked off
may have any value.

A `Range` holds numbers `low … high`, and for some dynamic constants `D` a number `k` so that the value is at most
`D + k`, in mathematical integers. A constant `c` is at most `D + c` for every `D`: where ranges meet, `high` stands in
for bounds that one side lacks.

The solver is a fixed point over the nodes: ranges only grow, those of phis jump to the ends of their type when they
have grown a few times, and two more rounds shrink what the jumps overshot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .conditions import Facts, facts
from .graph import def_use, predecessors
from .nodes import (
    Array,
    Atomic,
    Binary,
    BinaryOp,
    Bitcast,
    Cast,
    ConstantNode,
    DynamicConstant,
    DynamicConstantNode,
    DynamicLiteral,
    Fork,
    Index,
    Integer,
    IntegerConstant,
    Intrinsic,
    Node,
    Phi,
    PositionIndex,
    Read,
    Region,
    Select,
    ThreadID,
    Type,
    Write,
    ZeroConstant,
)
from .schedule import Schedule
from .types import element_type

Bounds = Mapping[DynamicConstant, int]


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from `low` to `high`, none of them above `D + k` for each `D: k` of `bounds`."""

    low: int
    high: int
    bounds: Bounds = field(default_factory=dict[DynamicConstant, int])

    def is_below(self, extent: DynamicConstant) -> bool:
        """Whether all the numbers are less than a dynamic constant."""
        if isinstance(extent, DynamicLiteral) and self.high < extent.value:
            return True
        return self.bounds.get(extent, 0) < 0

    def meet(self, other: Range) -> Range:
        """What both say of one value."""
        bounds = dict(self.bounds)
        for constant, most in other.bounds.items():
            bounds[constant] = min(most, bounds.get(constant, most))
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Range(low, max(low, high), bounds)

    def join(self, other: Range) -> Range:
        """What holds of either value."""
        bounds = {
            constant: max(self.bounds.get(constant, self.high), other.bounds.get(constant, other.high))
            for constant in {*self.bounds, *other.bounds}
        }
        return Range(min(self.low, other.low), max(self.high, other.high), bounds)

    def at_most(self, change: int = 0) -> Bounds:
        """Bounds of a value that is at most `change` more than this."""
        return {constant: most + change for constant, most in self.bounds.items()} if change else self.bounds


def limits(type: Integer) -> Range:
    """All numbers of a type."""
    if type.signed:
        return Range(-(1 << type.bits - 1), (1 << type.bits - 1) - 1)
    return Range(0, (1 << type.bits) - 1)


def ranges(plan: Schedule) -> Ranges:
    """The ranges of a scheduled function."""
    return Ranges(plan)


def in_range(plan: Schedule) -> frozenset[tuple[Node, int]]:
    """The (node, number of the index) of the Reads, Writes and Atomics whose position is surely inside its array.

    An index that is there, is in an array that is not empty, too.
    """
    known = Ranges(plan)
    return frozenset(
        (node, number)
        for node, at in plan.place.items()
        if isinstance(node, (Read, Write, Atomic))
        for number, position, extent in _positions(plan.types[node.collection], node.indices)
        if known.at(position, at).is_below(extent)
    )


def _positions(type: Type | None, indices: Sequence[Index]) -> Iterable[tuple[int, Node, DynamicConstant]]:
    for number, index in enumerate(indices):
        if isinstance(index, PositionIndex) and isinstance(type, Array):
            yield number, index.position, type.extent
        type = None if type is None else element_type(type, index)


_NARROWEST = 8  # bits: shift counts are taken modulo the width of their type
_PATIENCE = 3  # a phi's range may grow so many times before it jumps
_DEPTH = 4
"""How far a value's operands are looked at again with the facts of another block."""


class Ranges:
    """The range of each integer; `at` also takes the facts of a block."""

    def __init__(self, plan: Schedule) -> None:
        self.plan = plan
        self._facts = facts(plan)
        self._known: dict[Node, Range] = {}
        self._growths: Counter[Node] = Counter()
        self._users = def_use(plan.function)
        self._nodes = [node for node in plan.function.nodes if node in plan.place and self._is_integer(node)]
        self._solve()

    def at(self, node: Node, block: Node) -> Range:
        """The range of an integer in a block."""
        return self._look(node, block, _DEPTH) or self._limits(node)

    def _is_integer(self, node: Node) -> bool:
        return isinstance(self.plan.types.get(node), Integer)

    def _limits(self, node: Node) -> Range:
        type = self.plan.types[node]
        assert isinstance(type, Integer)
        return limits(type)

    # The fixed point

    def _solve(self) -> None:
        numbers = {node: number for number, node in enumerate(self._nodes)}
        pending = dict.fromkeys(self._nodes)
        while pending:
            batch, pending = sorted(pending, key=numbers.__getitem__), dict[Node, None]()
            for node in batch:
                if self._grow(node):
                    pending.update(dict.fromkeys(it for it in self._dependents(node) if it in numbers))
        for _ in range(2):
            for node in self._nodes:
                new = self._compute(node)
                if new is not None:
                    self._known[node] = new

    def _dependents(self, node: Node) -> Iterable[Node]:
        """Who may see another range when that of a node grows: its users, and through comparisons those of others."""
        for user in self._users[node]:
            yield user
            if isinstance(user, Binary):
                for other in (user.lhs, user.rhs):
                    if other is not node:
                        yield from self._users[other]

    def _grow(self, node: Node) -> bool:
        new, old = self._compute(node), self._known.get(node)
        if new is None:
            return False
        if old is not None:
            new = self._widened(node, old, old.join(new)) if isinstance(node, Phi) else old.join(new)
            if new == old:
                return False
        self._known[node] = new
        return True

    def _widened(self, node: Node, old: Range, new: Range) -> Range:
        self._growths[node] += new != old
        if self._growths[node] <= _PATIENCE:
            return new
        ends = self._limits(node)
        low = new.low if new.low == old.low else ends.low
        high = new.high if new.high == old.high else ends.high
        bounds = {it: most for it, most in new.bounds.items() if most <= old.bounds.get(it, old.high)}
        return Range(low, high, bounds)

    def _compute(self, node: Node) -> Range | None:
        """The range of a node where it is placed; None while an operand has none yet."""
        match node:
            case Phi(Region() as region, values):
                found = [
                    self._look(value, self._end_of(way), 1)
                    for value, way in zip(values, region.predecessors, strict=True)
                    if way in self.plan.graph.predecessors
                ]
                seen = [it for it in found if it is not None]
                if not seen:
                    return None
                result = seen[0]
                for it in seen[1:]:
                    result = result.join(it)
                return result
            case _:
                return self._transfer(node, self.plan.place[node], 1)

    def _end_of(self, way: Node) -> Node:
        while way not in self.plan.blocks:
            way = self.plan.dominators.parent[way]
        return way

    def _look(self, node: Node, block: Node, depth: int) -> Range | None:
        """The range of a node in a block: what holds everywhere, its operands' in this block, and the block's facts."""
        found = self._known.get(node)
        if depth > 1 and not isinstance(node, Phi) and found is not None:
            again = self._transfer(node, block, depth - 1)
            found = found if again is None else found.meet(again)
        if found is None or node not in self._facts[block]:
            return found
        return self._refined(found, node, block, self._facts[block], depth)

    def _refined(self, found: Range, node: Node, block: Node, known: Facts, depth: int) -> Range:
        for op, other in known[node]:
            limit = self._known.get(other) if depth <= 1 else self._without_facts(other, block, depth - 1)
            if limit is not None and self._is_integer(other):
                found = found.meet(_such(op, limit, self._limits(node)))
        return found

    def _without_facts(self, node: Node, block: Node, depth: int) -> Range | None:
        found = self._known.get(node)
        again = None if found is None or isinstance(node, Phi) else self._transfer(node, block, depth)
        return found if found is None or again is None else found.meet(again)

    # What operations do

    def _transfer(self, node: Node, block: Node, depth: int) -> Range | None:
        everything = self._limits(node)
        if isinstance(node, (Binary, Cast, Bitcast, Select, Intrinsic)):
            operands = [it for it in predecessors(node) if self._is_integer(it)]
            values = [self._look(it, block, depth) for it in operands]
            known = [it for it in values if it is not None]
            if len(known) < len(values):
                return None
            return _fitted(_computed(node, known), everything)
        match node:
            case ConstantNode(IntegerConstant(value=value)):
                return Range(value, value)
            case ConstantNode(ZeroConstant()):
                return Range(0, 0)
            case DynamicConstantNode(DynamicLiteral(value)):
                return Range(value, value)
            case DynamicConstantNode(constant):
                return Range(0, everything.high, {constant: 0})
            case ThreadID(Fork(factor=DynamicLiteral(value))):
                return Range(0, max(value - 1, 0))
            case ThreadID(Fork(factor=constant)):
                return Range(0, everything.high, {constant: -1})
            case _:
                return everything


def _such(op: BinaryOp, limit: Range, everything: Range) -> Range:
    """The values that compare so with some value of a range."""
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


def _fitted(found: Range | None, everything: Range) -> Range:
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


def _computed(node: Node, operands: Sequence[Range]) -> Range | None:
    """The mathematical result; None if nothing is known."""
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
        case _:
            return None


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
