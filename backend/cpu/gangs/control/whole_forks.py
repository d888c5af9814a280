"""A version of a body for when all threads of a fork, a workgroup's mostly, are in the interior of a problem.

One test before the loop over gangs says which way all threads branch, that their positions are in range and that
clamps change none of them. If it holds, a loop without masks, range tests and clamps runs, else the one with versions
of single blocks (see `versions`). Stencils have many clamps and range tests for each element that they write, so that
one test for each gang would take longer than what it saves.

A body may have loops whose turns are known before the kernel runs, as those over the window of a stencil. The test is
about all turns then.

Where threads are numbered through all rows of a problem, a workgroup may be longer than a row, and is never in the
interior. Then the same is asked of runs of gangs that are in one row (see `GangEmitter`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from .....base.cached import cached_property
from .....base.deadline import check_compile_time
from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import block_leader
from .....ir.hercules.arithmetic import ScalarValue
from .....ir.hercules.conditions import constant_truth
from .....ir.hercules.graph import predecessors
from .. import budgets
from ..analysis.alike import turns_together
from ..analysis.body import BlockEdge, Item, Level
from ..analysis.counts import has_atomics
from ..analysis.known import Values
from ..analysis.selects import likely_outcome
from ..analysis.shapes import UNIFORM, Kind
from ..analysis.spans import NEVER, Span, Spans, all_of
from ..context import GangContext
from ..site import Proved
from .versions import accessed, has_thread, has_workgroup, is_access, is_heavy

_LIGHT = 16
"""The most operations for each access of a body that is bound by memory and tests."""
_FEWEST = 3
"""Minimum number of tests in each gang, of positions and branches, that one test before the loop must replace. Those in
a loop are made in each turn.
"""
_MOST_TURNS = 256
"""The most turns of a loop of which a version knows that all are in the interior."""


@dataclass(frozen=True, slots=True)
class WholeVersion:
    """A version of a body that runs if `test` holds: all lanes take the `ways` from the ends of blocks, pass the items
    that are `passed`, and none those that are `dead`.
    """

    test: str
    proved: Proved
    ways: Mapping[h.Node, BlockEdge]
    passed: frozenset[Item]
    dead: frozenset[Item]

    @property
    def proved_in_loops(self) -> Proved:
        """What is proved, for blocks that gangs pass again and again."""
        return replace(self.proved, streaming=False)


@dataclass(slots=True)
class _Interior:
    """What is found so far: the ways, and the tests that imply them."""

    ways: dict[h.Node, BlockEdge] = field(default_factory=dict[h.Node, BlockEdge])
    tests: list[str] = field(default_factory=list[str])


class WholeForks:
    """Finds the version of a body, and writes its test at the current position, before the loop over gangs."""

    def __init__(self, context: GangContext, threads: tuple[str, str] | None = None) -> None:
        """The version is for all threads of the fork, or for those from the first to the last of `threads`."""
        self._placed, self._plan, self._private = context.placed, context.plan, context.private
        self._gang, self._body, self._shapes = context.gang, context.body, context.shapes
        self._nodes, self._one = context.nodes, context.one
        self._types, self._users = context.types, context.users
        self._order = list(_items_of(context.body.top))
        self._items = {it.leader: it for it in self._order if it.inner is None}
        self._headers = {it.header: it for it in context.body.levels[1:]}
        """The inner levels, by their headers."""
        self._threads = threads
        least_divisor = context.gang.count if threads is None else context.gang.threads
        self._spans = Spans(self._one, self._types, self._thread, self._outside, least_divisor)

    def find(self, room: str | None) -> WholeVersion | None:
        """The version; None if there is none or it is not worth the code. Of each row of threads, only the first `room`
        exist; None for all.
        """
        if self._counters is None:
            return None
        found = _Interior()
        if room is not None:
            found.tests.append(self._one.binary("icmp uge", "i64", room, str(self._gang.factors[-1])))
        dead = self._dead(found.ways)
        for item in self._order:
            check_compile_time()  # finding out what is dead without a way takes long in a body with many branches
            if item not in dead and item.inner is None and self._choose_way(item, found):
                dead = self._dead(found.ways)
        passed = set[Item]()
        for item in self._order:
            if item not in dead and self._is_passed(item, found.ways, dead, passed):
                passed.add(item)
        if not self._is_light(passed):
            return None
        proved, count = self._proved(passed, found)
        is_of_ranges = bool(self._headers) and not found.ways and not proved.same  # for these, loops have versions
        if count + sum(map(self._weight, found.ways)) < _FEWEST or not proved.in_range or is_of_ranges:
            return None
        test = all_of(self._one, found.tests)
        if test == NEVER:
            return None
        return WholeVersion(test, proved, found.ways, frozenset(passed), frozenset(dead))

    def _may_be_worth(self) -> bool:
        """Whether several gangs, or one in several turns, run a body of which all lanes leave all loops together."""
        gang = self._gang
        is_repeated = gang.count > gang.threads or bool(self._headers)
        are_left_together = all(it.is_loop and it not in self._shapes.divergent for it in self._headers.values())
        is_whole = gang.count % gang.threads == 0 and are_left_together
        return is_repeated and is_whole and not gang.is_in_unrolled and not gang.states

    def _is_light(self, passed: set[Item]) -> bool:
        """Whether what all lanes pass is bound by memory and tests."""
        nodes = [node for it in passed if it.inner is None for node in self._placed.blocks[it.leader]]
        is_short = (
            len(nodes) <= _LIGHT * sum(map(is_access, nodes)) and len(nodes) * self._gang.parts <= budgets.VERSIONS
        )
        return is_short and not (has_atomics(self._placed, nodes) or any(map(is_heavy, nodes)))

    def _weight(self, leader: h.Node) -> int:
        """How many tests one in a block counts as."""
        return 1 if self._body.level_of[leader] is self._body.top else _FEWEST

    # Values

    @cached_property
    def _counters(self) -> Mapping[h.Node, Span] | None:
        """The spans of the counters of all loops: in the turns in which bodies run, and, of those that are used after
        their loop, in the one in which it is left, too. None if there is no version, if the turns of a loop are not
        known, or if its header accesses memory, which it also does in the turn in which the loop is left.
        """
        if not self._may_be_worth():
            return None
        found: dict[h.Node, Span] = {}
        for header, level in self._headers.items():
            turns = turns_together(self._placed, self._gang.forks, level, {}, _MOST_TURNS)
            if turns is None or len(turns) == 1 or any(map(is_access, self._placed.blocks[header])):
                return None
            for counter in turns[0].counters:
                counts = [it.counters for it in (turns if self._is_used_after(counter, level) else turns[:-1])]
                if isinstance(self._types[counter], h.Integer) and all(counter in it for it in counts):
                    values = [int(it) for known in counts for it in _each(known[counter])]
                    low, high = min(values), max(values)
                    found[counter] = Span(str(low), str(high), low, high)
        return found

    def _is_used_after(self, counter: h.Node, level: Level) -> bool:
        """Whether something outside of a loop is computed from its counter."""
        found, pending = set[h.Node](), [counter]
        while pending:
            node = pending.pop()
            if self._placed.place.get(node, level.header) not in level.leaders:
                return True
            if node not in found and (node is counter or not isinstance(node, (h.Phi, h.ControlNode))):
                found.add(node)
                pending += (it for it in self._users[node] if it in self._placed.live)
        return False

    def _thread(self, node: h.Node) -> Span | None:
        """The span of the numbers of the threads in one of the forks, or of the counter of a loop."""
        if self._counters is not None and node in self._counters:
            return self._counters[node]
        if not isinstance(node, h.ThreadID) or node.fork not in self._gang.forks:
            return None
        factor, _, _ = self._gang.steps(node.fork)
        first, last = self._threads or ("0", str(factor - 1))
        return Span(first, last, 0, factor - 1)

    def _outside(self, node: h.Node) -> str | None:
        """The value of a scalar that is computed before the fork."""
        is_inside = self._placed.place.get(node) in self._body.level_of
        is_own = isinstance(node, h.ThreadID) and node.fork in self._gang.forks
        return None if is_inside or is_own or isinstance(node, h.ProductNode) else self._nodes.value(node)

    # Branches

    def _choose_way(self, item: Item, found: _Interior) -> bool:
        """Let all lanes take the likely way from a block, if there are tests for that: the only one on which anything
        is accessed, that of the interior, or else the one on which more is accessed. False if none is chosen.
        """
        exit, edges = self._placed.exits[item.leader], self._body.outgoing[item.leader]
        is_decided = item.leader in found.ways or item.leader in self._headers
        if not isinstance(exit, h.If) or is_decided or len(edges) != 2:
            return False
        first, second = (self._only_by(item, it, edges, found) for it in edges)
        accesses = [sum(map(is_access, it)) for it in (first, second)]
        if not any(accesses):
            return False
        likely = (
            likely_outcome(exit.condition, lambda it: not has_thread(it, lambda _: True)) if all(accesses) else None
        )
        is_first = accesses[0] > accesses[1] if likely is None else _is_true(edges[0]) == likely
        trial = _Interior(dict(found.ways), list(found.tests))
        is_taken = self._take(item, edges[0 if is_first else 1], trial)
        if is_taken:
            found.ways, found.tests = trial.ways, trial.tests
        return is_taken

    def _only_by(self, item: Item, edge: BlockEdge, edges: Sequence[BlockEdge], found: _Interior) -> list[h.Node]:
        """What is executed only if an edge from a block is taken."""
        (other,) = (it for it in edges if it != edge)
        dead = self._dead({**found.ways, item.leader: other})
        return [node for it in dead if it.inner is None for node in self._placed.blocks[it.leader]]

    def _take(self, item: Item, edge: BlockEdge, found: _Interior) -> bool:
        """Let all lanes take an edge from a block; false if there is no test for that. From the header of a loop, they
        take both edges together.
        """
        exit = self._placed.exits[item.leader]
        if item.leader in self._headers:
            return True
        if not isinstance(exit, h.If) or item.leader in found.ways:
            return found.ways.get(item.leader, edge) == edge
        found.ways[item.leader] = edge
        return self._decide(exit.condition, found, truth=_is_true(edge))

    def _decide(self, condition: h.Node, found: _Interior, *, truth: bool) -> bool:
        """Let a condition have one value for all lanes."""
        match condition:
            case h.Unary(op=h.UnaryOp.NOT, operand=operand):
                return self._decide(operand, found, truth=not truth)
            case h.Phi(region=h.Region() as region) if region in self._headers:
                return False  # it may have another value in the first turn
            case h.Phi(region=h.Region() as region, values=values) if region in self._items:
                ways = zip(values, region.predecessors, strict=True)
                live = [(it, before) for it, before in ways if before in self._placed.live]
                left = [(it, before) for it, before in live if constant_truth(it) is not (not truth)]
                return len(left) == 1 and self._come_by(*left[0], region, found, truth=truth)
            case _:
                is_about_all = self._outside(condition) is not None or has_workgroup(condition)
                tests = self._spans.all(condition, truth=truth) if is_about_all else None
                found.tests += tests or ()
                return tests is not None

    def _come_by(self, value: h.Node, before: h.Node, region: h.Node, found: _Interior, *, truth: bool) -> bool:
        """Let all lanes come to a region from one block, with a value there that is `truth`."""
        source = self._items.get(block_leader(before))
        if source is None or not self._pass(source, found):
            return False
        is_taken = self._take(source, BlockEdge(source.leader, region), found)
        return is_taken and (constant_truth(value) is truth or self._decide(value, found, truth=truth))

    def _pass(self, item: Item, found: _Interior) -> bool:
        """Let all lanes pass an item."""
        if item.leader is self._body.top.header:
            return True
        if item.inner is None and item.leader in self._headers:
            return self._pass(self._entered(item), found)
        if item.twin is not None:
            return self._pass(item.twin, found)
        if len(item.incoming) != 1:
            return False
        (edge,) = item.incoming
        source = self._items[edge.source]
        return self._pass(source, found) and self._take(source, edge, found)

    def _dead(self, ways: Mapping[h.Node, BlockEdge]) -> set[Item]:
        """The items that no lane passes."""
        dead = set[Item]()
        for item in self._order:
            if item.leader is self._body.top.header:
                continue
            if item.inner is None and item.leader in self._headers:
                is_dead = self._entered(item) in dead
            else:
                is_dead = not list(self._live_edges(item, ways, dead))
            if is_dead:
                dead.add(item)
        return dead

    def _entered(self, header: Item) -> Item:
        """The loop that a header belongs to, as an item of the level around it."""
        assert header.level.parent is not None
        return next(it for it in header.level.parent.items if it.inner is header.level)

    def _live_edges(self, item: Item, ways: Mapping[h.Node, BlockEdge], dead: set[Item]) -> Iterator[BlockEdge]:
        for edge in item.incoming:
            if self._items[edge.source] not in dead and ways.get(edge.source, edge) == edge:
                yield edge

    def _is_passed(self, item: Item, ways: Mapping[h.Node, BlockEdge], dead: set[Item], passed: set[Item]) -> bool:
        """Whether all lanes pass an item: of one in a loop, in each turn in which any does."""
        if item.leader is self._body.top.header or (item.twin is not None and item.twin in passed):
            return True
        if item.inner is None and item.leader in self._headers:
            return self._entered(item) in passed
        edges = list(self._live_edges(item, ways, dead))
        source = edges[0].source
        is_alike = source in ways or source in self._headers or not isinstance(self._placed.exits[source], h.If)
        return len(edges) == 1 and is_alike and self._items[source] in passed

    # Positions

    def _proved(self, passed: set[Item], found: _Interior) -> tuple[Proved, int]:
        """What can be proved of the positions in items that all lanes pass, and how many tests that replaces."""
        count = 0
        in_range, same = set[tuple[h.Node, h.DynamicConstant]](), dict[h.Node, h.Node]()
        exact, linear, searched = set[h.Node](), dict[h.Node, bool](), set[h.Node]()
        tested = set[h.Node]()
        for item in self._order:
            if item not in passed or item.inner is not None:
                continue
            for position, extent in accessed(self._placed, self._plan, self._private, item.leader):
                is_cheap = item.level is self._body.top and self._shapes.at(position, item.leader) == UNIFORM
                tests = None if is_cheap else self._in_range(position, extent)
                if tests is not None:
                    found.tests += tests
                    in_range.add((position, extent))
                    before = len(same)
                    exact.update(self._spans.followed(position))
                    tested.update(self._spans.tested(position))
                    self._find_unchanged(position, item.leader, found, same, searched)
                    is_tested = any(it != "true" for it in tests)
                    count += (is_tested + len(same) - before) * self._weight(item.leader)
                    self._is_linear(position, item.leader, same, linear)
        stepless = {node: it for node, it in self._spans.stepless.items() if node in tested}
        even = frozenset(node for node, is_linear in linear.items() if is_linear)
        proved = Proved(frozenset(in_range), even, frozenset(exact), same, stepless, streaming=True)
        return proved, count

    def _in_range(self, position: h.Node, extent: h.DynamicConstant) -> tuple[str, ...] | None:
        return self._spans.in_range(position, self._nodes.memory.dynamic(extent))

    def _find_unchanged(
        self,
        node: h.Node,
        leader: h.Node,
        found: _Interior,
        same: dict[h.Node, h.Node],
        searched: set[h.Node],
    ) -> None:
        """Find the operations in a position that leave one operand as it is, as clamps do in the interior."""
        if self._placed.place.get(node) not in self._body.level_of or node in searched:
            return
        searched.add(node)
        match node:
            case h.Intrinsic(arguments=arguments):
                tests = self._spans.unlimited(node)
                kept = next((it for it in arguments if self._outside(it) is None), None)
            case h.Select(condition=condition):
                kept = self._shapes.likely_arm(node, leader)
                tests = None if kept is None else self._spans.all(condition, truth=kept is node.if_true)
            case h.Binary() | h.Cast() | h.Bitcast():
                tests = kept = None
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return
            case _:
                assert_never(node)
        if tests is not None and kept is not None:
            found.tests += tests
            same[node] = kept
        for operand in predecessors(node):
            self._find_unchanged(operand, leader, found, same, searched)

    def _is_linear(
        self, node: h.Node, leader: h.Node, same: Mapping[h.Node, h.Node], linear: dict[h.Node, bool]
    ) -> bool:
        """Whether a value that does not wrap is affine in each gang. Says so in `linear` of all it is computed from."""
        if self._shapes.at(node, leader).kind is not Kind.SPECULATED:
            return True
        if node in linear:
            return linear[node]
        match node:
            case _ if node in same:
                operands: Sequence[h.Node] = [same[node]]
            case _ if node in self._spans.stepless:
                found = self._spans.stepless[node].operand
                operands = [] if found is None else [found]
            case h.Binary(op=h.BinaryOp.ADD | h.BinaryOp.SUB | h.BinaryOp.MUL | h.BinaryOp.SHIFT_LEFT):
                operands = predecessors(node)
            case h.Cast() | h.Bitcast():
                operands = predecessors(node)
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return False
            case _:
                assert_never(node)
        are_linear = [self._is_linear(it, leader, same, linear) for it in operands]
        linear[node] = all(are_linear)
        return linear[node]

    def threads_in_row(self, stepless: Iterable[h.Node]) -> str:
        """How many threads, at most all of the fork, come from the first one on before one of the remainders and
        quotients `stepless` steps; an i64.
        """
        left = str(self._gang.count)
        for node in stepless:
            if not isinstance(node, h.Binary):
                continue
            shape, room = self._shapes.at(node.lhs, self._placed.place[node]), self._spans.before_step(node)
            if shape.kind is Kind.AFFINE and shape.stride > 0 and room is not None:
                rising = self._one.binary("udiv", "i64", room, str(shape.stride))
                left = self._one.intrinsic("llvm.umin", "i64", left, rising)
        return left


def _is_true(edge: BlockEdge) -> bool:
    """Whether an edge is taken where the condition of a branch is true."""
    return isinstance(edge.target, h.Read) and edge.target.indices == [h.ControlIndex(1)]


def _each(values: Values) -> Sequence[ScalarValue]:
    """The values of all threads, or the one that they have in common."""
    return values if isinstance(values, tuple) else (values,)


def _items_of(level: Level) -> Iterator[Item]:
    """The items of a level and of those in it, each after all from which control comes but for back edges."""
    for item in level.items:
        yield item
        if item.inner is not None:
            yield from _items_of(item.inner)
