"""Versions of blocks in counted loops whose positions are in range in all iterations.

A test before the loop covers all its iterations: the counter is between 0 and the limit that it is compared with. If
the test holds, a version of the block without range tests runs, else the one with them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop, block_leader
from ..analysis.body import Item, Level
from ..analysis.bounds import constant_value
from ..analysis.shapes import UNIFORM
from ..analysis.spans import NEGATED, Span, Spans
from ..context import GangContext
from ..site import Proved
from ..values.values import GangValues
from .versions import FastVersion, accessed, all_of

_MOST = 160
"""The most operations, summed over all parts, of a block that gets two versions."""
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
    """Writes the tests of a loop's blocks; the current position is before the loop."""

    def __init__(self, context: GangContext, values: GangValues, emit_early: Callable[[h.Node], bool]) -> None:
        """`emit_early` writes a uniform value before the rest of the site's block, if that is possible."""
        self._placed, self._plan, self._private = context.placed, context.plan, context.private
        self._shapes = context.shapes
        self._site = context.site
        self._values = values
        self._emit_early = emit_early
        self._counters: dict[Item, h.Phi] = {}

    def find(self, level: Level) -> dict[Item, FastVersion]:
        """The versions of blocks that are worth the code. They prove nothing about masks."""
        counter = self._counter(level)
        if counter is None or level in self._shapes.divergent or any(it.inner is not None for it in level.items):
            return {}
        found: dict[Item, FastVersion] = {}
        for item in level.items:
            if item.leader is not level.header and len(self._placed.blocks[item.leader]) * self._site.count <= _MOST:
                with self._site.at(item.leader):
                    version = self._find(item.leader, level, counter)
                if version is not None:
                    found[item] = version
                    self._counters[item] = counter.phi
        return found

    def begin_iteration(self, item: Item) -> None:
        """Increment the counter before the versions branch off, so that LLVM sees one counter. The site is
        at the item.
        """
        for value in self._counters[item].values:
            if self._placed.place.get(value) is item.leader:
                self._emit_early(value)

    @contextmanager
    def tested(self, item: Item) -> Generator[None]:
        """Write the version with range tests. The counter is hidden from LLVM, and so is the end of the version: LLVM
        would otherwise move its computations out, into every iteration or behind the merge.
        """
        values, key = self._values, (self._counters[item], 0)
        with values.slots.replaced(key, values.memory.hidden(values.slots.use(key), "i32")):
            yield
        values.out.do('call void asm sideeffect "", ""()')

    def _find(self, leader: h.Node, level: Level, counter: _Counter) -> FastVersion | None:
        values = self._values
        counted: dict[h.Node, Span] = {}
        spans = Spans(
            values.one, self._placed.types, lambda it: counted.get(it) or values.threads.span(it), self._outside(level)
        )
        limit = spans.of(counter.limit)
        if limit is None:
            return None
        most = values.one.binary("sub", "i64", limit.most, "0" if counter.reaches_limit else "1")
        counted[counter.phi] = Span("0", most, 0, max(limit.high, 0), limit.tests)
        tests: list[str] = []
        proved: set[tuple[h.Node, h.DynamicConstant]] = set()
        for position, extent in accessed(self._placed, self._plan, self._private, leader):
            is_sure = values.memory.is_in_range(position, extent)
            found = None if is_sure else spans.in_range(position, values.dynamic(extent))
            if found is not None:
                tests += found
                proved.add((position, extent))
        if len(proved) < _FEWEST:
            return None
        exact = frozenset(node for position, _ in proved for node in spans.followed(position))
        return FastVersion(all_of(values.one, tests), Proved(frozenset(proved), exact=exact))

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
