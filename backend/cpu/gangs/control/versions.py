"""Whole gangs: blocks that all lanes of a gang likely pass, with all their positions in range.

One test a gang, made from the least and greatest of the lanes' values, stands for the mask of every part and for the
range test of every access. Where it holds, a version of the block runs that has neither; else the one with both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeGuard

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import block_leader
from .....ir.hercules.graph import predecessors
from .....ir.hercules.schedule import Schedule
from .....ir.hercules.types import is_collection
from .....ir.hercules.versions import is_version_projection
from ...llvm import Ops
from ...math import is_transcendental
from ...storage import Storage, StoragePlan
from ..analysis.body import Item, Level
from ..analysis.shapes import UNIFORM, Kind
from ..analysis.spans import Spans
from ..context import GangContext
from ..memory.addresses import array_steps
from ..site import Proved
from ..values.values import GangValues
from .masks import Masks

_MOST = 320
"""Blocks of more operations, those of all parts counted, have one version; so have those that compute functions, which
take longer than any test."""
_FEWEST = 3
"""One test is better than so many."""
_LIGHT = 8
"""The most operations for each access: it is memory that the block waits for."""


@dataclass(frozen=True, slots=True)
class FastVersion:
    """If `test` holds, all lanes pass the block, and what is `proved` is so."""

    test: str
    proved: Proved


@dataclass(frozen=True, slots=True)
class DeferredBranch:
    """A block with a branch at its end, and what is made only for that; in the order in which it is made."""

    leader: h.Node
    nodes: tuple[h.Node, ...]


class BlockVersions:
    """Finds the tests of items and writes them where code is now."""

    def __init__(
        self, context: GangContext, values: GangValues, masks: Masks, emit_early: Callable[[h.Node], bool]
    ) -> None:
        """`emit_early` writes a value of the site's block before all else there, if that is possible."""
        self._placed, self._plan, self._private = context.placed, context.plan, context.private
        self._shapes, self._users = context.shapes, context.users
        self._site = context.site
        self._has_versions = not context.gang.is_in_unrolled and not any(it.is_loop for it in context.body.levels)
        """Where lanes turn in loops, these are what takes time; where loops around them are unrolled, most positions
        are constants then."""
        self._values = values
        self._masks = masks
        self._emit_early = emit_early

    def find(self, item: Item) -> FastVersion | None:
        """The test of a block outside of loops; None where it has none or it is not worth the code."""
        if not self._is_worth(item):
            return None
        with self._site.at(item.leader):
            return self._find(item)

    def _is_worth(self, item: Item) -> bool:
        """Whether accesses are much of what a block does, and tests of each would be several."""
        if not self._has_versions or item.inner is not None or item.level.parent is not None:
            return False
        count, nodes = self._site.count, self._placed.blocks[item.leader]
        accesses, tested = sum(map(_is_access, nodes)), len(list(self._accesses(item.leader)))
        is_masked = item.leader is not item.level.header
        is_light = len(nodes) <= _LIGHT * accesses and len(nodes) * count <= _MOST
        return is_light and tested > 0 and (tested + is_masked) * count >= _FEWEST and not any(map(_is_heavy, nodes))

    def deferred_branches(self, level: Level) -> dict[Item, DeferredBranch]:
        """For blocks that are sure to be passed, with the item whose version for all lanes could come next, what is
        computed for each lane only to decide whether it is passed: there, and in blocks before.
        """
        if level.parent is not None:
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
        """Whether the one thing before an item that has versions is a branch."""
        is_next = [it.source for it in following.incoming] == [item.leader]
        leaves = any(self._masks.leaves_divergent(it) for it in following.incoming)
        return is_next and not leaves and self._shapes.splits(item.leader) and self._is_worth(following)

    def _only_for(self, leader: h.Node, sure: list[Item]) -> tuple[h.Node, ...]:
        """What some blocks compute for each lane only for the branch at the end of the last one."""
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
        spans = Spans(self._values.one, self._placed.types, self._values.thread_span, self._uniform)
        passed = self._passed(item, spans)
        if passed is None:
            return None
        tests, proved = list(passed), set[tuple[h.Node, h.DynamicConstant]]()
        for position, extent in accesses:
            found = spans.in_range(position, self._values.dynamic(extent))
            if found is not None:
                tests += found
                proved.add((position, extent))
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
            spans.all(exit.condition, truth=True)  # what it needs is defined where later tests can name it
        return FastVersion(
            all_of(self._values.one, tests), Proved(frozenset(proved), frozenset(linear), streaming=True)
        )

    def _uniform(self, node: h.Node) -> str | None:
        if self._shapes.at(node, self._site.here) != UNIFORM or isinstance(node, h.ProductNode):
            return None
        if self._placed.place.get(node) is self._site.here and not self._emit_early(node):
            return None
        return self._values.scalar(node) if self._values.is_named(node) else None

    # Who passes

    def _passed(self, item: Item, spans: Spans) -> tuple[str, ...] | None:
        """Tests that together mean that all lanes come to an item."""
        if item.leader is item.level.header:
            return self._masks.full_tests(self._shapes.item_keys[item])
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

    def _passed_block(self, leader: h.Node, level: Level, spans: Spans) -> tuple[str, ...] | None:
        item = next((it for it in level.items if it.leader is leader and it.inner is None), None)
        return None if item is None else self._passed(item, spans)

    def _all_lanes(self, condition: h.Node, level: Level, spans: Spans, *, truth: bool) -> tuple[str, ...] | None:
        """Tests that together mean that a condition is so for all lanes."""
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
        """Of a value that is known to be otherwise on all ways but one, as && and || make them: all lanes come that way
        and have it there.
        """
        live = [(value, before) for value, before in ways if before in self._placed.live]
        left = [(value, before) for value, before in live if _known_truth(value) is not (not truth)]
        if len(left) != 1:
            return None
        value, before = left[0]
        passed = self._passed_block(block_leader(before), level, spans)
        taken = None if passed is None else self._all_lanes(value, level, spans, truth=truth)
        return None if passed is None or taken is None else (*passed, *taken)

    def _is_about_all(self, condition: h.Node) -> bool:
        """Whether a condition asks where in the whole dispatch a lane is, which is alike for most gangs; where it is in
        the workgroup is asked to choose some.
        """
        return self._shapes.at(condition, self._site.here) == UNIFORM or _has_workgroup(condition)

    # Accesses

    def _accesses(self, leader: h.Node) -> Iterator[tuple[h.Node, h.DynamicConstant]]:
        """The positions of a block's accesses that differ between lanes, and how long their arrays are."""
        for position, extent in accessed(self._placed, self._plan, self._private, leader):
            if self._shapes.at(position, leader) != UNIFORM:
                yield position, extent

    def _linear(self, node: h.Node, spans: Spans) -> tuple[tuple[str, ...], frozenset[h.Node]] | None:
        """Tests that together mean that a value that is likely affine is that, and all likely ones it is made from."""
        if self._shapes.at(node, self._site.here).kind is not Kind.SPECULATED:
            return (), frozenset()
        tests = self._own_tests(node, spans)
        if tests is None:
            return None
        rising = frozenset([node])
        for operand in predecessors(node):
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
            case _:
                return None


def _is_access(node: h.Node) -> TypeGuard[h.Read | h.Write]:
    return isinstance(node, (h.Read, h.Write)) and not is_version_projection(node)


def _known_truth(node: h.Node) -> bool | None:
    """The value of a constant condition."""
    match node:
        case h.ConstantNode(value=h.BoolConstant(value=value)):
            return value
        case h.ConstantNode(value=h.ZeroConstant(type=h.Bool())):
            return False
        case _:
            return None


def _has_workgroup(node: h.Node, depth: int = 12) -> bool:
    """Whether a number is made from that of a workgroup."""
    match node:
        case h.ThreadID(fork=h.Fork(factor=factor)):
            return not isinstance(factor, h.DynamicLiteral)
        case h.Binary() | h.Unary() | h.Cast() | h.Bitcast() | h.Select() | h.Intrinsic() if depth > 0:
            return any(_has_workgroup(it, depth - 1) for it in predecessors(node))
        case _:
            return False


def _is_heavy(node: h.Node) -> bool:
    return isinstance(node, h.Call) or (isinstance(node, h.Intrinsic) and is_transcendental(node.function))


def all_of(one: Ops, tests: Iterable[str]) -> str:
    """Whether all tests hold."""
    result = "true"
    for test in dict.fromkeys(tests):
        result = test if result == "true" else one.binary("and", "i1", result, test)
    return result


def accessed(
    placed: Schedule, plan: StoragePlan, private: frozenset[Storage], leader: h.Node
) -> list[tuple[h.Node, h.DynamicConstant]]:
    """The positions of a block's accesses to what lanes share, and how long their arrays are."""
    found: dict[tuple[h.Node, h.DynamicConstant], None] = {}
    for node in placed.blocks[leader]:
        if not _is_access(node):
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
