"""Versions of counted loops whose positions are in range in all iterations.

A test before a loop, or before a nest of loops, covers all iterations: each counter is between 0 and the limit that it
is compared with. If the test holds, a copy of the loop without range tests runs, else the one with them. The copies
are loops of their own, and not ways through one body: LLVM would move what both ways do to their values, such as adding
to a sum, behind the point where they meet, and the products of a whole block would wait for that in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop, block_leader
from .. import budgets
from ..analysis.body import Level
from ..analysis.bounds import constant_value
from ..analysis.shapes import UNIFORM
from ..analysis.spans import NEGATED, NEVER, Span, Spans, all_of
from ..context import GangContext
from ..site import Proved
from ..values.values import GangValues
from .versions import FastVersion, accessed

_LIGHT = 16
"""The most operations for each access that is not tested, of loops that are not short."""
_FEWEST = 2
"""Minimum number of accesses whose range tests one test before the loop must replace."""
_MIRRORED = {h.BinaryOp.GREATER: h.BinaryOp.LESS, h.BinaryOp.GREATER_EQUAL: h.BinaryOp.LESS_EQUAL}


@dataclass(frozen=True, slots=True)
class _Counter:
    """A loop counter: in all blocks but the header it is at least 0 and below `limit`, or equal to it if it
    `reaches_limit`.
    """

    phi: h.Phi
    limit: h.Node
    reaches_limit: bool


class CountedLoops:
    """Writes the tests of loops; the current position is before the loop."""

    def __init__(self, context: GangContext, values: GangValues) -> None:
        self._placed, self._plan, self._private = context.placed, context.plan, context.private
        self._shapes = context.shapes
        self._site = context.site
        self._values = values

    def find(self, level: Level, *, is_tested: bool) -> FastVersion | None:
        """The version of a loop and those in it, if it is worth the code. It proves nothing about masks. With inner
        loops, it proves all positions in these, else inner loops may have versions of their own. `is_tested` says that
        the code is the tested copy of loops around: only innermost and short loops have versions there.
        """
        levels, size = list(_nest(level)), self._size(level)
        if size * self._site.count > (budgets.SHORT_LOOP_VERSIONS if is_tested else budgets.LOOP_VERSIONS) or (
            len(levels) > 1 and is_tested
        ):
            return None
        if any(not it.is_loop or it in self._shapes.divergent for it in levels):
            return None
        counters = {it: counter for it in levels if (counter := self._counter(it)) is not None}
        return self._find(level, levels, counters) if level in counters else None

    def _size(self, level: Level) -> int:
        return sum(len(self._placed.blocks[it]) for it in level.leaders)

    def _is_worth(self, level: Level, accesses: int) -> bool:
        """Whether a loop is worth a copy without the tests of some accesses."""
        size = self._size(level)
        is_short = size * self._site.count <= budgets.SHORT_LOOP_VERSIONS
        return accesses >= _FEWEST and (is_short or size <= _LIGHT * accesses)

    def _find(self, level: Level, levels: list[Level], counters: Mapping[Level, _Counter]) -> FastVersion | None:
        values, tests = self._values, list[str]()
        proved, exact = set[tuple[h.Node, h.DynamicConstant]](), set[h.Node]()
        for inner in levels:
            spans, own = self._spans(level, inner, counters), list[str]()
            for position, extent in self._accesses(inner):
                if values.memory.is_in_range(position, extent) or values.is_proved(position, extent):
                    continue
                found = spans.in_range(position, values.dynamic(extent))
                if found is not None:
                    own += found
                    proved.add((position, extent))
                    exact.update(spans.followed(position))
                elif inner is not level:
                    return None
            tests += spans.strongest(own)
        if not self._is_worth(level, len(proved)):
            return None
        test = all_of(values.one, tests)
        return None if test == NEVER else FastVersion(test, Proved(frozenset(proved), exact=frozenset(exact)))

    def _spans(self, level: Level, inner: Level, counters: Mapping[Level, _Counter]) -> Spans:
        """Spans before a level, of values in blocks of a level inside. Counters of loops that are not around these
        blocks may have reached their limits.
        """
        counted: dict[h.Node, Span] = {}
        threads = self._values.threads
        spans = Spans(
            self._values.one,
            self._placed.types,
            lambda it: counted.get(it) or threads.span(it),
            self._outside(level),
        )
        for around in _path(level, inner):
            span = self._span_of(counters[around], spans) if around in counters else None
            if span is not None:
                counted[counters[around].phi] = span
        return spans

    def _span_of(self, counter: _Counter, spans: Spans) -> Span | None:
        limit = spans.of(counter.limit)
        if limit is None:
            return None
        most = self._values.one.binary("sub", "i64", limit.most, "0" if counter.reaches_limit else "1")
        return Span("0", most, 0, max(limit.high, 0), limit.tests)

    def _accesses(self, level: Level) -> Iterator[tuple[h.Node, h.DynamicConstant]]:
        """The positions and extents of accesses in a level's own blocks in which its counter is below the limit."""
        for item in level.items:
            if item.inner is None and item.leader is not level.header:
                yield from accessed(self._placed, self._plan, self._private, item.leader)

    def _outside(self, level: Level) -> Callable[[h.Node], str | None]:
        """Gives the values of nodes that are uniform and defined before the loop."""

        def name(node: h.Node) -> str | None:
            is_inside = self._placed.place.get(node) in level.leaders
            if is_inside or isinstance(node, h.ProductNode) or self._shapes.at(node, self._site.here) != UNIFORM:
                return None
            return self._values.scalar(node) if self._values.is_named(node) else None

        return name

    def _counter(self, level: Level) -> _Counter | None:
        exit = self._placed.exits[level.header]
        if not isinstance(level.container, Loop) or not isinstance(exit, h.If):
            return None
        inside = [it for it in self._placed.graph.successors[exit] if block_leader(it) in level.leaders]
        if len(inside) != 1 or not isinstance(exit.condition, h.Binary):
            return None
        op, left, right = exit.condition.op, exit.condition.lhs, exit.condition.rhs
        if isinstance(inside[0], h.Read) and inside[0].indices == [h.ControlIndex(0)]:
            op = NEGATED.get(op, h.BinaryOp.EQUAL)
        if op in _MIRRORED:
            op, left, right = _MIRRORED[op], right, left
        if op not in (h.BinaryOp.LESS, h.BinaryOp.LESS_EQUAL) or not isinstance(left, h.Phi):
            return None
        reaches_limit = op is h.BinaryOp.LESS_EQUAL
        is_counter = left.region is level.header and self._is_never_negative(left, level.container, reaches_limit)
        return _Counter(left, right, reaches_limit) if is_counter else None

    def _is_never_negative(self, phi: h.Phi, loop: Loop, reaches_limit: bool) -> bool:
        """Whether the counter is never negative. A signed one must count up from a constant, and may not reach its
        limit, which could be the greatest number.
        """
        type = self._placed.types[phi]
        if self._shapes.at(phi, loop.header) != UNIFORM or not isinstance(type, h.Integer) or type.bits != 32:
            return False
        if not type.signed:
            return True
        pairs = list(zip(loop.header.predecessors, phi.values, strict=True))
        starts = [constant_value(it) for control, it in pairs if control not in loop.latches]
        steps = [it for control, it in pairs if control in loop.latches]
        counts_up = all(
            isinstance(it, h.Binary) and it.op is h.BinaryOp.ADD and it.lhs is phi and constant_value(it.rhs) == 1
            for it in steps
        )
        return counts_up and not reaches_limit and all(it is not None and it >= 0 for it in starts)


def _nest(level: Level) -> Iterator[Level]:
    """A level and those in it, outermost first."""
    yield level
    for item in level.items:
        if item.inner is not None:
            yield from _nest(item.inner)


def _path(level: Level, inner: Level) -> list[Level]:
    """The levels from one to another inside of it, with both."""
    path = [inner]
    while path[-1] is not level:
        parent = path[-1].parent
        assert parent is not None
        path.append(parent)
    return path[::-1]
