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
from ..analysis.body import Level
from ..analysis.bounds import constant_value
from ..analysis.shapes import UNIFORM
from ..analysis.spans import NEGATED, Span, Spans
from ..context import GangContext
from ..site import Proved
from ..values.values import GangValues
from .versions import FastVersion, accessed, all_of

_MOST = 2000
"""The most operations, summed over all parts, of loops that are written twice. The copy without tests is a fraction of
the code of the other one.
"""
_MOST_AGAIN = 160
"""The most operations of a loop that is written twice inside of the tested copy of others."""
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
        levels = list(_nest(level))
        is_outer = len(levels) > 1
        size = sum(len(self._placed.blocks[it]) for it in level.leaders) * self._site.count
        if size > (_MOST_AGAIN if is_tested else _MOST) or (is_outer and is_tested):
            return None
        if any(not it.is_loop or it in self._shapes.divergent for it in levels):
            return None
        counters = {it: counter for it in levels if (counter := self._counter(it)) is not None}
        return self._find(level, levels, counters) if level in counters else None

    def _find(self, level: Level, levels: list[Level], counters: Mapping[Level, _Counter]) -> FastVersion | None:
        values = self._values
        counted: dict[h.Node, Span] = {}
        spans = Spans(
            values.one, self._placed.types, lambda it: counted.get(it) or values.threads.span(it), self._outside(level)
        )
        for it in levels:
            span = self._span_of(counters[it], spans) if it in counters else None
            if span is not None:
                counted[counters[it].phi] = span
        tests: list[str] = []
        proved: set[tuple[h.Node, h.DynamicConstant]] = set()
        for inner, position, extent in self._accesses(levels):
            if values.memory.is_in_range(position, extent) or values.is_proved(position, extent):
                continue
            found = spans.in_range(position, values.dynamic(extent))
            if found is not None:
                tests += found
                proved.add((position, extent))
            elif inner is not level:
                return None
        if len(proved) < _FEWEST:
            return None
        exact = frozenset(node for position, _ in proved for node in spans.followed(position))
        return FastVersion(all_of(values.one, spans.strongest(tests)), Proved(frozenset(proved), exact=exact))

    def _span_of(self, counter: _Counter, spans: Spans) -> Span | None:
        limit = spans.of(counter.limit)
        if limit is None:
            return None
        most = self._values.one.binary("sub", "i64", limit.most, "0" if counter.reaches_limit else "1")
        return Span("0", most, 0, max(limit.high, 0), limit.tests)

    def _accesses(self, levels: list[Level]) -> Iterator[tuple[Level, h.Node, h.DynamicConstant]]:
        """The positions and extents of accesses in blocks in which counters are below their limits."""
        for level in levels:
            for item in level.items:
                if item.inner is None and item.leader is not level.header:
                    for position, extent in accessed(self._placed, self._plan, self._private, item.leader):
                        yield level, position, extent

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
