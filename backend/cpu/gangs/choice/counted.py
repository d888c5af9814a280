"""Nests of loops around barriers whose counters go from constant to constant, executed as far as these counters go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop, block_leader
from .....ir.hercules.placement import Placement
from ..analysis.known import KnownValues

_MOST_EXECUTED = 20000
"""The most operations of a nest of loops that are executed to find the states of its counters."""


class NotConstant(Exception):
    """A trip count is not known before the kernel runs, or the nest runs too long."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A loop's header is executed, with these values of counters, and control `stays` in the loop or leaves it."""

    loop: Loop
    values: Mapping[h.Node, int]
    stays: bool


class CountedNest:
    """A loop and the loops inside of it that are outside of gangs."""

    def __init__(self, placed: Placement, loop: Loop, parts: Mapping[h.Fork, int], most: int) -> None:
        """`parts` has the parts of the gangs of forks. The nest may execute at most `most` operations of parts."""
        self._placed = placed
        self._parts = parts
        self._left = most
        self.states: dict[Loop, list[Mapping[h.Node, int]]] = {}
        """The counters' values at the beginning of each iteration that was executed."""
        self.trace: list[Arrival] = []
        """The executions of headers, in their order."""
        outside = len(placed.loops.around[loop.header])
        self._depth = {
            it: len(placed.loops.around[it.header]) - outside
            for it in placed.loops.loops
            if it.header in loop.body and not self._is_in_fork(it)
        }
        self.inner = frozenset(it for it in self._depth if it is not loop)
        self._sizes = self._find_sizes()
        """The operations of an iteration, without those of inner loops."""

    def _is_in_fork(self, loop: Loop) -> bool:
        return any(it in self._parts for it in self._placed.nest.around[loop.header])

    def run(self, loop: Loop, known: Mapping[h.Node, int]) -> Mapping[h.Node, int]:
        """Execute all iterations; returns the values of counters after the loop. Raises NotConstant."""
        branch, stays = self._condition(loop)
        values = self._phis(loop, known, is_first=True)
        while self._arrive(loop, values, stays=bool(self._value(branch.condition, values)) == stays):
            self._left -= max(self._sizes.get(loop, 0), 1)
            if self._left < 0:
                raise NotConstant
            self.states.setdefault(loop, []).append(values)
            for inner, depth in self._depth.items():
                if inner.header in loop.body and depth == self._depth[loop] + 1:
                    values = {**values, **self.run(inner, values)}
            values = self._phis(loop, values, is_first=False)
        return values

    def _arrive(self, loop: Loop, values: Mapping[h.Node, int], *, stays: bool) -> bool:
        self.trace.append(Arrival(loop, values, stays))
        return stays

    def _condition(self, loop: Loop) -> tuple[h.If, bool]:
        """The only branch that leaves the loop, and the value of its condition that stays."""
        body = set(loop.body)
        graph = self._placed.graph
        ways = [(it, to) for it in loop.body for to in graph.successors[it] if to not in body]
        if len(ways) != 1 or len(loop.latches) != 1:
            raise NotConstant
        ((branch, leaves),) = ways
        if not isinstance(branch, h.If) or block_leader(branch) is not loop.header:
            raise NotConstant
        assert isinstance(leaves, h.Read)
        return branch, leaves.indices == [h.ControlIndex(0)]

    def _phis(self, loop: Loop, known: Mapping[h.Node, int], *, is_first: bool) -> dict[h.Node, int]:
        """The known values at the beginning of an iteration."""
        values = dict(known)
        for node in self._placed.members.phis.get(loop.header, ()):
            pairs = zip(loop.header.predecessors, node.values, strict=True)
            ways = [value for control, value in pairs if (control in loop.latches) is not is_first]
            values.pop(node, None)
            try:
                (way,) = ways
                values[node] = self._value(way, known)
            except (NotConstant, ValueError):
                continue
        return values

    def _value(self, node: h.Node, known: Mapping[h.Node, int]) -> int:
        found = KnownValues(self._placed.types, (), known).common(node)
        if found is None:
            raise NotConstant
        return int(found)

    def _find_sizes(self) -> dict[Loop, int]:
        found: dict[Loop, int] = {}
        for leader, nodes in self._placed.blocks.items():
            around = [it for it in self._placed.loops.around[leader] if it in self._depth]
            if around:
                forks = [it for it in self._placed.nest.around[leader] if it in self._parts]
                size = len(nodes) * (self._parts[forks[0]] if forks else 1)
                found[around[-1]] = found.get(around[-1], 0) + size
        return found


class Counters:
    """The states of the counters of loops."""

    def __init__(self, placed: Placement, forks: Iterable[h.Fork]) -> None:
        self._placed = placed
        self._parts = dict.fromkeys(forks, 1)
        self._states: dict[Loop, list[Mapping[h.Node, int]]] | None = None
        self._traces: dict[Loop, Sequence[Arrival]] = {}
        self._after: dict[h.Node, int] = {}

    def of(self, loop: Loop) -> Sequence[Mapping[h.Node, int]]:
        """What is known in each iteration of a loop outside of gangs; nothing if that is not known of all."""
        if self._states is None:
            self._states = self._find()
        return self._states.get(loop, ())

    def after(self) -> Mapping[h.Node, int]:
        """What is known behind the loops, outside of them."""
        if self._states is None:
            self._states = self._find()
        return self._after

    def trace(self, loop: Loop) -> Sequence[Arrival]:
        """How a loop runs that has no loop around it; nothing if that is not known."""
        self.of(loop)
        return self._traces.get(loop, ())

    def _find(self) -> dict[Loop, list[Mapping[h.Node, int]]]:
        found: dict[Loop, list[Mapping[h.Node, int]]] = {}
        for loop in sorted(self._placed.loops.loops, key=lambda it: len(self._placed.loops.around[it.header])):
            is_inside = any(it in self._parts for it in self._placed.nest.around[loop.header])
            if loop in found or is_inside:
                continue
            nest = CountedNest(self._placed, loop, self._parts, _MOST_EXECUTED)
            try:
                self._after |= nest.run(loop, self._after)
            except NotConstant:
                continue
            found |= nest.states
            self._traces[loop] = nest.trace
        return found
