"""Nests of forks: over the workgroups of a dispatch, and over the lanes (local invocations) of a workgroup.

The outermost fork of a nest is that of z, the innermost that of x. Values cross its joins as Reduces (collections,
which every thread updates in turn) or as Collects (one element for each thread).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.hercules import nodes as h
from ...ir.hercules.graph import predecessors
from .divergent_exits import DivergentExits
from .graph import Graph, is_cheap_to_repeat
from .values import Cell, PerLane

CHEAP = 12
"""Number of nodes up to which a value is computed again in a later fork; larger ones are collected and read back."""


class ForkNest:
    """An open nest of forks, with the joins that `close` will add.

    `ids` are the ThreadIDs for x, y, z; None where there is no fork.
    """

    def __init__(self, graph: Graph, control: h.Node, factors: Sequence[h.DynamicConstant | None]) -> None:
        """`factors` are the thread counts for x, y, z; a dimension with None gets no fork."""
        self.graph = graph
        self.forks: list[h.Fork] = []
        self.joins: list[h.Join] = []
        ids: list[h.Node | None] = [None, None, None]
        for axis in (2, 1, 0):
            factor = factors[axis]
            if factor is None:
                continue
            fork = graph.add(h.Fork(control, factor))
            self.forks.append(fork)
            self.joins.append(h.Join(fork))
            ids[axis] = graph.add(h.ThreadID(fork, label=f"id_{'xyz'[axis]}"))
            control = fork
        self.ids: tuple[h.Node | None, ...] = tuple(ids)
        self.inside = control

    @property
    def thread_ids(self) -> list[h.Node]:
        """The ThreadIDs there are, outermost (z) first."""
        return [identifier for identifier in reversed(self.ids) if identifier is not None]

    def reduce(self, init: h.Node, label: str) -> list[h.Reduce]:
        """Carry a value across all threads: a Reduce for each join, outermost first; `finish` sets their updates."""
        reduces: list[h.Reduce] = []
        for join in self.joins:
            reduce = self.graph.add(h.Reduce(join, init, init, label=label))
            reduces.append(reduce)
            init = reduce
        return reduces

    @staticmethod
    def finish(reduces: Sequence[h.Reduce], update: h.Node) -> h.Reduce:
        """Set the updates, given the value at the end of a thread. Returns the outermost Reduce: the final value."""
        for reduce in reversed(reduces):
            reduce.update = update
            update = reduce
        return reduces[0]

    def close(self, control: h.Node) -> h.Node:
        """Join all threads, which have reached `control`; returns the control after the nest."""
        for join in reversed(self.joins):
            join.control = control
            control = self.graph.add(join)
        return control


class LaneFork:
    """The open fork nest over a workgroup's lanes, or a closed one whose values are still used.

    For a workgroup of one invocation the nest has no forks, and all methods work the same.
    """

    def __init__(self, graph: Graph, control: h.Node, size: Sequence[int], versions: dict[Cell, h.Node]) -> None:
        """`versions`: the shared cells' versions before the fork."""
        self.graph = graph
        self.versions = versions
        factors = [None if extent == 1 else h.DynamicLiteral(extent) for extent in size]
        graph.lane = None if all(factor is None for factor in factors) else self
        self.nest = ForkNest(graph, control, factors)
        self._reduces: dict[Cell, list[h.Reduce]] = {}
        self._imports: dict[h.Node, h.Node] = {}
        self._collects: dict[h.Node, h.Node] = {}
        self.divergent_exits: DivergentExits | None = None

    def thread_id(self, axis: int) -> h.Node:
        """The lane's u64 index along x, y or z."""
        return self.nest.ids[axis] or self.graph.u64(0)

    def shared(self, cell: Cell, version: h.Node) -> h.Node:
        """A shared cell's version as this fork sees it: the version from before the fork becomes a Reduce."""
        if not self.nest.joins or version is not self.versions.get(cell):
            return version
        if cell not in self._reduces:
            self._reduces[cell] = self.nest.reduce(version, cell.name)
        return self._reduces[cell][-1]

    def carries(self, node: h.Node) -> bool:
        """Whether the node is a Reduce that carries a shared cell across this fork."""
        return any(node in reduces for reduces in self._reduces.values())

    def adopt(self, cell: Cell, version: h.Node) -> None:
        """Treat a new shared cell, whose version depends on nothing inside the fork, as declared before the fork."""
        self.versions[cell] = version

    def complete(self, state: dict[Cell, h.Node | PerLane]) -> None:
        """Add to a state the cells that were adopted after it was copied."""
        for cell, version in self.versions.items():
            state.setdefault(cell, version)

    def close(self, control: h.Node, versions: Mapping[Cell, h.Node]) -> tuple[h.Node, dict[Cell, h.Node]]:
        """Join the lanes at `control`, where the shared cells have these versions. Returns the control and the versions
        after the join.
        """
        self.graph.lane = None
        after = self.nest.close(control)
        joined: dict[Cell, h.Node] = {}
        for cell, reduces in self._reduces.items():
            joined[cell] = ForkNest.finish(reduces, self.shared(cell, versions[cell]))
            self.graph.disown(joined[cell])
        return after, joined

    def collect(self, node: h.Node) -> h.Node:
        """An array over the lanes, outside of the fork, of the values that a scalar has in them. The fork must be
        closed. The array is cached, so it may only be read.
        """
        if node not in self._collects:
            self._collects[node] = self.collect_anew(node)
        return self._collects[node]

    def collect_anew(self, node: h.Node) -> h.Node:
        """Like `collect`, but always a new array, which may become the input of a Phi."""
        array = node if self.divergent_exits is None else self.divergent_exits.at_join(node, self)
        for join in reversed(self.nest.joins):
            array = self.graph.add_outside(h.Collect(join, array, label=node.label))
        return array

    def lane_of(self, array: h.Node) -> h.Node:
        """This lane's element of an array over the lanes."""
        if not self.nest.joins:
            return array
        return self.graph.add(h.Read(array, [h.PositionIndex(index) for index in self.nest.thread_ids]))

    def carry(self, node: h.Node, source: LaneFork) -> h.Node:
        """Make a scalar of an earlier, closed fork available in this one: computed again if that is cheap, else
        collected and read back.
        """
        if node not in self._imports:
            copy = self._recompute(node, source, self.nest.thread_ids)
            self._imports[node] = copy or self.lane_of(source.collect(node))
        return self._imports[node]

    def first_lane(self, node: h.Node) -> h.Node:
        """The value of the first lane, for a scalar of this closed fork that is uniform by WGSL's rules."""
        zero = self.graph.u64(0)
        copy = self._recompute(node, self, [zero] * len(self.nest.joins))
        if copy is not None:
            return copy
        return self.graph.add(h.Read(self.collect(node), [h.PositionIndex(zero) for _ in self.nest.joins]))

    def _recompute(self, node: h.Node, source: LaneFork, thread_ids: Sequence[h.Node]) -> h.Node | None:
        """A copy of the node for other thread IDs; None if it would take more than `CHEAP` nodes or is impossible."""
        if not _is_cheap(node, source):
            return None
        mapping: dict[h.Node, h.Node] = dict(zip(source.nest.thread_ids, thread_ids, strict=True))

        def mapped(value: h.Node) -> h.Node:
            if source.graph.owner(value) is not source:
                return value
            if value not in mapping:
                copy = value.copy()
                copy.map_inputs(mapped)
                copy.span = None  # `Instructions.translate` sets the span of the instruction that needs the copy
                mapping[value] = source.graph.add(copy)
            return mapping[value]

        return mapped(node)


def _is_cheap(node: h.Node, source: LaneFork) -> bool:
    """Whether the node depends, inside its fork, on thread IDs and at most `CHEAP` pure scalar operations only."""
    seen: set[h.Node] = set()
    pending = [node]
    while pending:
        value = pending.pop()
        if value in seen or source.graph.owner(value) is not source or isinstance(value, h.ThreadID):
            continue
        seen.add(value)
        if len(seen) > CHEAP or not is_cheap_to_repeat(value):
            return False
        pending.extend(predecessors(value))
    return True
