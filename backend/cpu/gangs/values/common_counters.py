"""Counters of loops that lanes leave one by one, where the lanes that enter may have one value in common.

Lanes that walk over a list each, as over the things in a cell of a grid, often walk over the same list. All lanes in
such a loop add the same number to its counter in each iteration. If those that enter have one value, those that are
still there have one in each iteration: one test before the loop finds out, and a scalar counts along.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.graph import predecessors
from ... import data
from ...nodes import compute
from ..analysis.body import Level
from ..analysis.shapes import UNIFORM, VARYING
from ..context import GangContext
from .vectors import LaneVectors

_DEPTH = 8
"""The most operations, one after another, between a counter and a position."""


@dataclass(frozen=True, slots=True)
class Common:
    """The value of all lanes that are in a loop: `scalar`, if the i1 `is_common` is true, else any value."""

    is_common: str
    scalar: str


@dataclass(eq=False, slots=True)
class _OpenLoop:
    """A loop that is being written. Control enters by the block `entry`, which is not ended yet, and goes to `head`."""

    level: Level
    entry: str
    head: str
    masks: Sequence[str]
    """The lanes of each part that enter."""
    start: Callable[[h.Phi], str]
    """Writes the vector with which a Phi of the header begins, in `entry`."""
    counters: dict[tuple[h.Phi, int], Common] = field(default_factory=dict[tuple[h.Phi, int], Common])
    ways: dict[str, list[tuple[str, str]]] = field(default_factory=dict[str, list[tuple[str, str]]])
    """By scalar, its values before the loop and at the end of an iteration, with their blocks."""


class CommonCounters:
    """Writes the tests and scalars of counters that are asked for; `scalar` gives those of uniform values."""

    def __init__(
        self,
        context: GangContext,
        vectors: LaneVectors,
        scalar: Callable[[h.Node], str],
        is_usable: Callable[[h.Node], bool],
    ) -> None:
        """`scalar` and `is_usable` are those of `addresses.ValueQueries`."""
        self._placed, self._types, self._shapes = context.placed, context.types, context.shapes
        self._site = context.site
        self._vectors, self._scalar, self._is_usable = vectors, scalar, is_usable
        self._out, self._one = vectors.out, vectors.one
        self._open: list[_OpenLoop] = []

    @contextmanager
    def loop(self, level: Level, head: str, masks: Sequence[str], start: Callable[[h.Phi], str]) -> Generator[str]:
        """Write a loop, from `head` to the end of its last block. Gives the block before `head`."""
        out = self._out
        before, entry = out.current, out.fresh_block("entry")
        out.do(f"br label %{entry}")
        out.open_arm(entry, before)
        loop = _OpenLoop(level, entry, head, masks, start)
        self._open.append(loop)
        yield entry
        self._open.pop()
        self._advance(loop)
        with out.elsewhere(entry):
            out.do(f"br label %{head}")

    def _advance(self, loop: _OpenLoop) -> None:
        """Count on at the end of an iteration."""
        with self._site.at(loop.level.header):
            for (phi, _), counter in loop.counters.items():
                step = self._step(phi, loop.level)
                assert step is not None
                type = data.llvm_type(self._types[phi])
                following = self._one.binary("add", type, counter.scalar, self._scalar(step))
                loop.ways[counter.scalar].append((following, self._out.current))

    def computes(self, node: h.Node) -> bool:
        """Whether a value is computed from counters and uniform values."""
        return bool(self._counters_of(node, _DEPTH))

    def of(self, node: h.Node) -> Common | None:
        """A value that is computed from counters and uniform values, in the current part; None if it is not."""
        counters = self._counters_of(node, _DEPTH)
        if not counters:
            return None
        found = {phi: self._counter(phi, loop) for phi, loop in counters.items()}
        is_common = "true"
        for it in found.values():
            is_common = self._one.binary("and", "i1", is_common, it.is_common)
        return Common(is_common, self._computed(node, {phi: it.scalar for phi, it in found.items()}))

    def _counters_of(self, node: h.Node, depth: int) -> dict[h.Phi, _OpenLoop] | None:
        """The counters that a value is computed from, with their loops; None if it is computed from others, too."""
        if self._is_uniform(node):
            return {}
        if isinstance(node, h.Phi):
            loop = next((it for it in self._open if it.level.header is node.region), None)
            is_varying = self._shapes.at(node, self._site.here) == VARYING
            return {node: loop} if loop is not None and is_varying and self._step(node, loop.level) else None
        if not isinstance(node, h.ScalarNode) or not depth:
            return None
        found: dict[h.Phi, _OpenLoop] = {}
        for it in predecessors(node):
            counters = self._counters_of(it, depth - 1)
            if counters is None:
                return None
            found |= counters
        return found

    def _is_uniform(self, node: h.Node) -> bool:
        return self._shapes.at(node, self._site.here) == UNIFORM and self._is_usable(node)

    def _step(self, phi: h.Phi, level: Level) -> h.Node | None:
        """What each iteration adds to a 32-bit integer, if that is known before the loop and the same for all lanes."""
        loop, region, type = level.container, phi.region, self._types[phi]
        assert isinstance(loop, Loop)
        assert isinstance(region, h.Region)
        pairs = zip(region.predecessors, phi.values, strict=True)
        following = [value for control, value in pairs if control in loop.latches]
        match following, type:
            case [h.Binary(op=h.BinaryOp.ADD, lhs=lhs, rhs=rhs)], h.Integer(32):
                step = rhs if lhs is phi else lhs
                is_counter = phi in (lhs, rhs) and self._placed.place.get(step) not in level.leaders
                return step if is_counter and self._shapes.at(step, level.header) == UNIFORM else None
            case _:
                return None

    def _counter(self, phi: h.Phi, loop: _OpenLoop) -> Common:
        """The scalar of a counter, which is written the first time."""
        name = phi, self._site.part
        if name not in loop.counters:
            loop.counters[name] = self._begin(phi, loop)
        return loop.counters[name]

    def _begin(self, phi: h.Phi, loop: _OpenLoop) -> Common:
        out, type, mask = self._out, data.llvm_type(self._types[phi]), loop.masks[self._site.part]
        with out.elsewhere(loop.entry):
            start = loop.start(phi)
            first = self._vectors.of_some_lane(type, start, mask)
            differs = self._vectors.vec.binary("icmp ne", type, start, first)
            differs = self._vectors.vec.select(mask, "i1", differs, "zeroinitializer")
            is_common = self._vectors.is_empty(differs)
            ways = [(self._vectors.lane(type, first, "0"), loop.entry)]
        with out.elsewhere(loop.head):
            scalar = out.phi(type, lambda: ways)
        loop.ways[scalar] = ways
        return Common(is_common, scalar)

    def _computed(self, node: h.Node, counters: dict[h.Phi, str]) -> str:
        if isinstance(node, h.Phi) and node in counters:
            return counters[node]
        if self._is_uniform(node):
            return self._scalar(node)
        return compute(self._one, node, self._types, lambda it: self._computed(it, counters))
