"""Versions of blocks for full gangs: all lanes pass the block, and all positions are in range.

One test a gang, on the least and greatest of the lanes' values, replaces the masks of all parts and the range tests of
all accesses. If the test holds, a version without masks and range tests runs, else the one with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeGuard, assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import block_leader
from .....ir.hercules.conditions import constant_truth
from .....ir.hercules.graph import predecessors
from .....ir.hercules.placement import Placement
from .....ir.hercules.types import is_collection
from .....ir.hercules.versions import is_version_projection
from ...math import is_transcendental
from ...storage import Storage, StoragePlan
from .. import budgets
from ..analysis.body import Item, Level
from ..analysis.shapes import UNIFORM, Kind
from ..analysis.spans import NEVER, Span, Spans, all_of
from ..context import GangContext
from ..memory.addresses import array_steps
from ..site import Proved
from ..values.values import GangValues
from .masks import Masks

_FEWEST = 3
"""Minimum number of accesses that one whole-gang test must replace."""
_LIGHT = 8
"""The most operations for each access of a block that is bound by memory."""


@dataclass(frozen=True, slots=True)
class FastVersion:
    """A version of a block that runs if `test` holds: all lanes pass it then, and `proved` is true."""

    test: str
    proved: Proved


@dataclass(frozen=True, slots=True)
class DeferredBranch:
    """A block whose branch is written later, together with the `nodes` that only the branch needs."""

    leader: h.Node
    nodes: tuple[h.Node, ...]


class BlockVersions:
    """Finds the versions of items, and writes their tests at the current position."""

    def __init__(
        self, context: GangContext, values: GangValues, masks: Masks, emit_early: Callable[[h.Node], bool]
    ) -> None:
        """`emit_early` writes a uniform value before the rest of the site's block, if that is possible."""
        self._placed, self._plan, self._private = context.placed, context.plan, context.private
        self._shapes, self._users = context.shapes, context.users
        self._site = context.site
        self._top = context.body.top
        is_constant = context.gang.is_in_unrolled or context.site.known is not None
        has_loops = any(it.is_loop for it in context.body.levels)
        self._has_versions = context.gang.is_straight or not (is_constant or has_loops)
        """False where lanes run loops, which dominate the time, and where most positions are constant in each copy of
        the code.
        """
        self._values = values
        self._masks = masks
        self._emit_early = emit_early

    def find(self, item: Item) -> FastVersion | None:
        """The fast version of a block outside of loops; None if it has none or is not worth the code."""
        if not self._is_worth(item):
            return None
        with self._site.at(item.leader):
            return self._find(item)

    def _is_worth(self, item: Item) -> bool:
        """Whether a block is bound by memory, and one test replaces enough masks and range tests. Blocks that call
        functions are not: the calls take longer than any test.
        """
        if not self._has_versions or item.inner is not None or not self._is_once(item.level):
            return False
        count, nodes = self._site.count, self._placed.blocks[item.leader]
        accesses, tested = sum(map(is_access, nodes)), len(list(self._accesses(item.leader)))
        is_masked = item.leader is not item.level.header
        is_light = len(nodes) <= _LIGHT * accesses and len(nodes) * count <= budgets.VERSIONS
        return is_light and tested > 0 and (tested + is_masked) * count >= _FEWEST and not any(map(is_heavy, nodes))

    def _is_once(self, level: Level) -> bool:
        """Whether a level is written for one turn of the loops around it."""
        known = self._site.known
        return level is self._top or (known is not None and level in known.unrolled)

    def deferred_branches(self, level: Level) -> dict[Item, DeferredBranch]:
        """The branches to defer: at the end of blocks that all gangs pass, before an item with a fast version. The
        version needs no masks, so that vectors which only decide the branch are computed in the other version alone.
        """
        if level is not self._top:
            return {}
        found: dict[Item, DeferredBranch] = {}
        sure: list[Item] = []
        for item, following in pairwise(level.items):
            if item.inner is not None or not (item.leader is level.header or item.twin in sure):
                continue
            sure.append(item)
            if not self._is_worth(item) and self._decides(item, following):
                found[item] = DeferredBranch(item.leader, self._only_for(item.leader, sure))
        return found

    def _decides(self, item: Item, following: Item) -> bool:
        """Whether an item ends in the branch to a following item with versions."""
        is_next = [it.source for it in following.incoming] == [item.leader]
        leaves = any(self._masks.leaves_divergent(it) for it in following.incoming)
        return is_next and not leaves and self._shapes.splits(item.leader) and self._is_worth(following)

    def _only_for(self, leader: h.Node, sure: list[Item]) -> tuple[h.Node, ...]:
        """The vectors that some blocks compute only for the branch at the end of the last of them."""
        wanted = {self._placed.exits[leader]}
        found: list[h.Node] = []
        for node in (node for it in reversed(sure) for node in reversed(self._placed.blocks[it.leader])):
            users = [it for it in self._users[node] if it in self._placed.live]
            is_pure = isinstance(node, (h.Binary, h.Unary, h.Select, h.Cast, h.Bitcast, h.Intrinsic))
            if is_pure and self._shapes.at(node, leader).is_vector and wanted.issuperset(users):
                wanted.add(node)
                found.append(node)
        return tuple(reversed(found))

    def _find(self, item: Item) -> FastVersion | None:
        accesses = list(self._accesses(item.leader))
        is_masked = self._masks.is_partial(self._shapes.item_keys[item])
        spans = Spans(self._values.one, self._placed.types, self._counter, self._uniform)
        passed = self._passed(item, spans)
        if passed is None:
            return None
        tests = list(passed)
        proved: dict[tuple[h.Node, h.DynamicConstant], None] = {}
        for position, extent in accesses:
            found = spans.in_range(position, self._values.dynamic(extent))
            if found is not None:
                tests += found
                proved[position, extent] = None
        linear = set[h.Node]()
        for position, _ in proved:
            rising = self._linear(position, spans)
            if rising is not None:
                tests += rising[0]
                linear |= rising[1]
        if not proved and not is_masked:
            return None
        exit = self._placed.exits[item.leader]
        if isinstance(exit, h.If):
            spans.all(exit.condition, truth=True)  # defines the operands where later tests can use them
        test = all_of(self._values.one, spans.strongest(tests))
        if test == NEVER:
            return None
        return FastVersion(test, Proved(frozenset(proved), frozenset(linear), streaming=True))

    def _counter(self, node: h.Node) -> Span | None:
        """The span of a thread number, or of a counter that is known."""
        known = self._site.known_threads(node)
        if known is None:
            return self._values.threads.span(node)
        low, high = int(min(known)), int(max(known))
        return Span(str(low), str(high), low, high)

    def _uniform(self, node: h.Node) -> str | None:
        if self._shapes.at(node, self._site.here) != UNIFORM or isinstance(node, h.ProductNode):
            return None
        if self._placed.place.get(node) is self._site.here and not self._emit_early(node):
            return None
        return self._values.scalar(node) if self._values.is_named(node) else None

    # Lanes that pass

    def _passed(self, item: Item, spans: Spans) -> tuple[str, ...] | None:
        """Tests that imply that all lanes pass an item."""
        if item.leader is item.level.header:
            return self._entered(item, spans)
        if item.twin is not None:
            return self._passed(item.twin, spans)
        if len(item.incoming) != 1:
            return None
        edge = item.incoming[0]
        before, exit = self._passed_block(edge.source, item.level, spans), self._placed.exits[edge.source]
        if before is None or not isinstance(exit, h.If):
            return before
        is_true = isinstance(edge.target, h.Read) and edge.target.indices == [h.ControlIndex(1)]
        taken = self._all_lanes(exit.condition, item.level, spans, truth=is_true)
        return None if taken is None else (*before, *taken)

    def _entered(self, item: Item, spans: Spans) -> tuple[str, ...] | None:
        """The same for the first item of a level."""
        parent = item.level.parent
        if parent is None:
            return self._masks.full_tests(self._shapes.item_keys[item])
        return self._passed(next(it for it in parent.items if it.inner is item.level), spans)

    def _passed_block(self, leader: h.Node, level: Level, spans: Spans) -> tuple[str, ...] | None:
        item = next((it for it in level.items if it.leader is leader and it.inner is None), None)
        return None if item is None else self._passed(item, spans)

    def _all_lanes(self, condition: h.Node, level: Level, spans: Spans, *, truth: bool) -> tuple[str, ...] | None:
        """Tests that imply that a condition is `truth` for all lanes."""
        known = self._site.known_threads(condition)
        if known is not None:
            return () if all(bool(it) is truth for it in known) else None
        match condition:
            case h.Unary(op=h.UnaryOp.NOT, operand=operand):
                return self._all_lanes(operand, level, spans, truth=not truth)
            case h.Phi(region=h.Region() as region, values=values):
                return self._all_by_one_way(zip(values, region.predecessors, strict=True), level, spans, truth=truth)
            case _:
                return spans.all(condition, truth=truth) if self._is_about_all(condition) else None

    def _all_by_one_way(
        self, ways: Iterable[tuple[h.Node, h.Node]], level: Level, spans: Spans, *, truth: bool
    ) -> tuple[str, ...] | None:
        """The tests of a Phi that has another value on all ways but one, as && and || make them: all lanes come that
        way, and the value there is `truth`.
        """
        live = [(value, before) for value, before in ways if before in self._placed.live]
        left = [(value, before) for value, before in live if constant_truth(value) is not (not truth)]
        if len(left) != 1:
            return None
        value, before = left[0]
        passed = self._passed_block(block_leader(before), level, spans)
        taken = None if passed is None else self._all_lanes(value, level, spans, truth=truth)
        return None if passed is None or taken is None else (*passed, *taken)

    def _is_about_all(self, condition: h.Node) -> bool:
        """Whether most gangs decide a condition alike, since it asks for the position in the dispatch. A condition on
        the position in the workgroup selects some lanes of every gang.
        """
        return self._shapes.at(condition, self._site.here) == UNIFORM or has_workgroup(condition)

    # Accesses

    def _accesses(self, leader: h.Node) -> Iterator[tuple[h.Node, h.DynamicConstant]]:
        """The positions of a block's accesses that differ between lanes, with the extents of their arrays."""
        for position, extent in accessed(self._placed, self._plan, self._private, leader):
            if self._shapes.at(position, leader) != UNIFORM and not self._values.is_known(position):
                yield position, extent

    def _linear(self, node: h.Node, spans: Spans) -> tuple[tuple[str, ...], frozenset[h.Node]] | None:
        """Tests that imply that a speculated value is affine, and the speculated values that it depends on."""
        if self._shapes.at(node, self._site.here).kind is not Kind.SPECULATED:
            return (), frozenset()
        arm = self._shapes.likely_arm(node, self._site.here) if isinstance(node, h.Select) else None
        if isinstance(node, h.Select) and arm is not None:
            tests = spans.all(node.condition, truth=arm is node.if_true)
        else:
            tests = self._own_tests(node, spans)
        if tests is None:
            return None
        rising = frozenset([node])
        for operand in predecessors(node) if arm is None else [arm]:
            inner = self._linear(operand, spans)
            if inner is None:
                return None
            tests, rising = (*tests, *inner[0]), rising | inner[1]
        return tests, rising

    @staticmethod
    def _own_tests(node: h.Node, spans: Spans) -> tuple[str, ...] | None:
        match node:
            case h.Intrinsic():
                return spans.unlimited(node)
            case h.Binary(op=h.BinaryOp.ADD | h.BinaryOp.SUB | h.BinaryOp.MUL | h.BinaryOp.SHIFT_LEFT) | h.Cast():
                span = spans.of(node)
                return None if span is None else span.tests
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return None
            case _:
                assert_never(node)


def is_access(node: h.Node) -> TypeGuard[h.Read | h.Write]:
    """Whether a node accesses an element of a collection."""
    return isinstance(node, (h.Read, h.Write)) and not is_version_projection(node)


def has_workgroup(node: h.Node) -> bool:
    """Whether an integer depends on the number of a workgroup."""
    return has_thread(node, lambda it: isinstance(it.fork, h.Fork) and not isinstance(it.fork.factor, h.DynamicLiteral))


def has_thread(node: h.Node, is_wanted: Callable[[h.ThreadID], bool], depth: int = 12) -> bool:
    """Whether an integer depends on a wanted number of a thread."""
    match node:
        case h.ThreadID():
            return is_wanted(node)
        case h.Binary() | h.Unary() | h.Cast() | h.Bitcast() | h.Select() | h.Intrinsic() if depth > 0:
            return any(has_thread(it, is_wanted, depth - 1) for it in predecessors(node))
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return False
        case _:
            assert_never(node)


def is_heavy(node: h.Node) -> bool:
    """Whether an operation takes longer than any test."""
    return isinstance(node, h.Call) or (isinstance(node, h.Intrinsic) and is_transcendental(node.function))


def accessed(
    placed: Placement, plan: StoragePlan, private: frozenset[Storage], leader: h.Node
) -> list[tuple[h.Node, h.DynamicConstant]]:
    """The positions of a block's accesses to shared storage, with the extents of their arrays."""
    found: dict[tuple[h.Node, h.DynamicConstant], None] = {}
    for node in placed.blocks[leader]:
        if not is_access(node):
            continue
        collection = node.collection if isinstance(node, h.Read) else node
        is_whole = isinstance(node, h.Read) and is_collection(placed.types[node])
        if is_whole or isinstance(collection, (h.ConstantNode, h.Atomic)):
            continue
        storage = plan.of(collection)
        if storage not in private:
            for position, extent, _ in array_steps(storage.layout, node.indices):
                found[position, extent] = None
    return list(found)
