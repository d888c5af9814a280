"""Range analysis: the interval of each integer, and the dynamic constants and values that bound it.

`ranges(placed)` solves for all integers of a placed function, with the facts of the branches around each node (see
`conditions`); `in_range(placed)` are the positions proved to be inside their arrays, which need no clamp. Both hold for
that placement only, and only for threads that reach the node's block: a lane that is masked off may have any value.

See `intervals` for the lattice. Bounds relative to values are kept for those that comparisons, bounds and
remainders name (`anchors`), as they are where the range is asked for: neither value is computed again between the place
of the bounded one and a place that it dominates. At a phi only values from above its region are the same on all paths.

The solver is a fixed point over the nodes: ranges only grow, those of phis jump to the ends of their type when they
have grown a few times, and two more rounds shrink what the jumps overshot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from . import dynamic
from .conditions import MIRRORED, Comparison, Facts, facts, implied, is_above
from .graph import def_use, predecessors
from .intervals import Anchor, Bounds, Range, Value, computed, fitted, limits, such
from .nodes import (
    Array,
    Atomic,
    Binary,
    BinaryOp,
    Bitcast,
    Cast,
    ConstantNode,
    ControlNode,
    DynamicConstant,
    DynamicConstantNode,
    DynamicLiteral,
    FloatingNode,
    Fork,
    Index,
    Integer,
    IntegerConstant,
    Intrinsic,
    Node,
    Phi,
    PinnedNode,
    PositionIndex,
    Read,
    Reduce,
    Region,
    Select,
    ThreadID,
    Type,
    Write,
    ZeroConstant,
)
from .placement import Placement
from .types import element_type


def ranges(placed: Placement) -> Ranges:
    """The ranges of a placed function."""
    return Ranges(placed)


def in_range(placed: Placement, counts: int = 64) -> frozenset[tuple[Node, int]]:
    """The pairs (node, number of the index) of Reads, Writes and Atomics whose position is proved to be in its array.

    The array of such a position is not empty. The dynamic constants are numbers of `counts` bits.
    """
    known = Ranges(placed, counts)
    return frozenset(
        (node, number)
        for node, at in placed.place.items()
        if isinstance(node, (Read, Write, Atomic))
        for number, position, extent in _positions(placed.types[node.collection], node.indices)
        if known.at(position, at).is_below(extent)
    )


def _positions(type: Type | None, indices: Sequence[Index]) -> Iterable[tuple[int, Node, DynamicConstant]]:
    for number, index in enumerate(indices):
        if isinstance(index, PositionIndex) and isinstance(type, Array):
            yield number, index.position, type.extent
        type = None if type is None else element_type(type, index)


_PATIENCE = 3  # a phi's range may grow so many times before it jumps
_DEPTH = 4
"""Maximum depth of operands that are re-evaluated with the facts of another block."""


class Ranges:
    """The range of each integer; `at` also takes the facts of a block.

    The dynamic constants that the function takes, and the expressions of them in `small`, are numbers of `counts` bits.
    """

    def __init__(self, placed: Placement, counts: int = 64, small: Iterable[DynamicConstant] = ()) -> None:
        self.placed = placed
        self._most = (1 << counts) - 1
        self._small = dict.fromkeys(small, self._most)
        self._facts = facts(placed)
        self._anchors = {node: Value(node, self._limits(node).low) for node in _anchors(placed)}
        self._known: dict[Node, Range] = {}
        self._growths: Counter[Node] = Counter()
        self._users = def_use(placed.function)
        self._nodes = [node for node in placed.function.nodes if node in placed.place and self._is_integer(node)]
        self._solve()

    def at(self, node: Node, block: Node) -> Range:
        """The range of an integer in a block."""
        return self._look(node, block, _DEPTH) or self._limits(node)

    def forms(self, node: Node, block: Node) -> Iterator[tuple[Anchor, int]]:
        """Exact forms of an integer in a block: pairs of an anchor and the difference of the integer from it."""
        yield from self._forms(node, block, _DEPTH)

    def _forms(self, node: Node, block: Node, depth: int) -> Iterator[tuple[Anchor, int]]:
        if node in self._anchors:
            yield self._anchors[node], 0
        if isinstance(node, DynamicConstantNode):
            yield node.value, 0
        inner, change = _inner(node)
        if inner is None or depth == 0 or not self._is_integer(inner):
            return
        range, everything = self._look(inner, block, depth), self._limits(node)
        if range is not None and everything.low <= range.low + change and range.high + change <= everything.high:
            for anchor, above in self._forms(inner, block, depth - 1):
                yield anchor, above + change

    def _is_integer(self, node: Node) -> bool:
        return isinstance(self.placed.types.get(node), Integer)

    def _limits(self, node: Node) -> Range:
        type = self.placed.types[node]
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
        """The nodes to recompute when the range of a node grows: its users, and nodes compared with it."""
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
        bounds = {it: most for it, most in new.bounds.items() if most <= old.above(it)}
        return Range(low, high, bounds)

    def _compute(self, node: Node) -> Range | None:
        """The range of a node where it is placed; None while an operand has none yet."""
        match node:
            case Phi(Region() as region, values):
                found = [
                    self._look(value, self._end_of(predecessor), 1)
                    for value, predecessor in zip(values, region.predecessors, strict=True)
                    if predecessor in self.placed.graph.predecessors
                ]
                seen = [it for it in found if it is not None]
                if not seen:
                    return None
                result = seen[0]
                for it in seen[1:]:
                    result = result.join(it)
                return self._from_above(region, result)
            case _:
                return self._transfer(node, self.placed.place[node], 1)

    def _from_above(self, region: Region, found: Range) -> Range:
        """The range without bounds by values that are computed again below the region."""
        kept = {
            anchor: most
            for anchor, most in found.bounds.items()
            if not isinstance(anchor, Value) or is_above(self.placed, anchor.node, region)
        }
        return Range(found.low, found.high, kept)

    def _end_of(self, predecessor: Node) -> Node:
        while predecessor not in self.placed.blocks:
            predecessor = self.placed.dominators.parent[predecessor]
        return predecessor

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
                found = found.meet(such(op, self._named(other, limit), self._limits(node)))
        return found

    def _named(self, node: Node, found: Range) -> Range:
        """The range with the node itself as a bound."""
        anchor = self._anchors.get(node)
        return found if anchor is None else Range(found.low, found.high, {**found.bounds, anchor: 0})

    def _without_facts(self, node: Node, block: Node, depth: int) -> Range | None:
        found = self._known.get(node)
        again = None if found is None or isinstance(node, Phi) else self._transfer(node, block, depth)
        return found if found is None or again is None else found.meet(again)

    # What operations do

    def _transfer(self, node: Node, block: Node, depth: int) -> Range | None:
        everything = self._limits(node)
        if isinstance(node, Select):
            return self._chosen(node, block, depth)
        if isinstance(node, (Binary, Cast, Bitcast, Intrinsic)):
            operands = [it for it in predecessors(node) if self._is_integer(it)]
            known = [self._named(it, found) for it in operands if (found := self._look(it, block, depth)) is not None]
            if len(known) < len(operands):
                return None
            result = computed(node, known)
            if isinstance(node, Binary) and node.op is BinaryOp.SUB and depth > 1 and result is not None:
                result = self._subtracted(node, known[1], result, block, depth)
            return fitted(self._strided(node, result), everything)
        match node:
            case ConstantNode(IntegerConstant(value=value)):
                return Range(value, value)
            case ConstantNode(ZeroConstant()):
                return Range(0, 0)
            case DynamicConstantNode(DynamicLiteral(value)):
                return Range(value, value)
            case DynamicConstantNode(constant):
                return Range(0, self._most_of(constant), {constant: 0})
            case ThreadID(Fork(factor=DynamicLiteral(value))):
                return Range(0, max(value - 1, 0))
            case ThreadID(Fork(factor=constant)):
                most = max(self._most_of(constant) - 1, 0)
                return Range(0, most, _bounds_of_thread(constant))
            case FloatingNode() | PinnedNode() | ControlNode():
                return everything
            case _:
                assert_never(node)

    def _most_of(self, constant: DynamicConstant) -> int:
        return dynamic.greatest(constant, self._most, self._small)

    def _strided(self, node: Node, result: Range | None) -> Range | None:
        """The range of a product, refined if enough threads run for every multiple of a step below a number."""
        match node:
            case Binary(BinaryOp.MUL, ThreadID(Fork(factor=factor)), ConstantNode(IntegerConstant(value=step))):
                limit = dynamic.ceil_divided(factor, step)
                if limit is None or result is None:
                    return result
                most = max(self._most_of(limit) - 1, 0)
                return result.meet(Range(0, most, _bounds_of_thread(limit)))
            case _:
                return result

    def _chosen(self, node: Select, block: Node, depth: int) -> Range | None:
        """The range of a select: each value is refined by the facts that the condition implies."""
        arms = list[Range]()
        for value, truth in ((node.if_true, True), (node.if_false, False)):
            found = self._look(value, block, depth)
            if found is None:
                return None
            found = self._named(value, found)
            for op, other in _about(value, implied(self.placed, node.condition, truth)):
                limit = self._known.get(other)
                if limit is not None:
                    found = found.meet(such(op, self._named(other, limit), self._limits(value)))
            arms.append(found)
        return arms[0].join(arms[1])

    def _subtracted(self, node: Binary, right: Range, result: Range, block: Node, depth: int) -> Range:
        """The range of a difference, refined if the right side is bounded by the left side."""
        for anchor, above in self._forms(node.lhs, block, depth - 1):
            if anchor in right.bounds:
                low = max(result.low, above - right.bounds[anchor])
                result = Range(low, max(low, result.high), result.bounds)
        base, change = _sum_with_constant(node.lhs)
        found = None if base is None else self._look(base, block, depth - 1)
        if base is None or found is None:
            return result
        # base + change may wrap, but base + change - right does not if it fits: n - 1 - i, where n may be 0.
        for anchor, above in self._forms(base, block, depth - 1):
            low, high = above + change - right.bounds.get(anchor, above), found.high + change - right.low
            everything = self._limits(node)
            if anchor in right.bounds and everything.low <= low <= high <= everything.high:
                return Range(low, high, {anchor: above + change - right.low}).meet(fitted(result, everything))
        return result


def _bounds_of_thread(factor: DynamicConstant) -> Bounds:
    """The bounds of a number that is less than a dynamic constant."""
    return {anchor: change - 1 for anchor, change in dynamic.not_below(factor)}


def _about(node: Node, comparisons: Iterable[Comparison]) -> Iterator[tuple[BinaryOp, Node]]:
    for op, lhs, rhs in comparisons:
        if lhs is node:
            yield op, rhs
        elif rhs is node:
            yield MIRRORED[op], lhs


def _anchors(placed: Placement) -> frozenset[Node]:
    """The values that integers are compared with, clamped to, or divided by, and the bases of sums with constants.

    A Reduce is no anchor: its value inside the fork differs from the value after it.
    """
    return frozenset(
        it
        for node in placed.place
        for operand in _named_by(node)
        for it in _chain(operand)
        if it in placed.place
        and isinstance(placed.types[it], Integer)
        and not isinstance(it, (ConstantNode, DynamicConstantNode, Reduce))
    )


def _named_by(node: Node) -> Sequence[Node]:
    match node:
        case Binary(op, lhs, rhs) if op in MIRRORED:
            return lhs, rhs
        case Binary(BinaryOp.REM, _, rhs):
            return (rhs,)
        case Intrinsic("min" | "max" | "clamp", _, arguments):
            return arguments
        case _:
            return ()


def _chain(node: Node | None) -> Iterator[Node]:
    while node is not None:
        yield node
        node, _ = _inner(node)


def _inner(node: Node) -> tuple[Node | None, int]:
    """The base that a node converts, or adds a constant to, and the constant."""
    match node:
        case Cast(operand=operand) | Bitcast(operand=operand):
            return operand, 0
        case _:
            return _sum_with_constant(node)


def _sum_with_constant(node: Node) -> tuple[Node | None, int]:
    """The base that a node adds a constant to, and the constant."""
    match node:
        case Binary(BinaryOp.ADD, lhs, ConstantNode(IntegerConstant(value=change))):
            return lhs, change
        case Binary(BinaryOp.ADD, ConstantNode(IntegerConstant(value=change)), rhs):
            return rhs, change
        case Binary(BinaryOp.SUB, lhs, ConstantNode(IntegerConstant(value=change))):
            return lhs, -change
        case FloatingNode() | PinnedNode() | ControlNode():
            return None, 0
        case _:
            assert_never(node)
