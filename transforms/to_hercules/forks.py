"""Nests of forks: over the workgroups of a dispatch, and over the lanes (local invocations) of a workgroup.

A nest runs from z, the outermost, to x. Values cross its joins as Reduces (what every thread updates in turn:
collections) or Collects (one datum a thread).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.hercules import nodes as h
from ...ir.hercules.graph import predecessors
from .divergent_exits import DivergentExits
from .graph import Graph, is_cheap_to_repeat
from .values import Cell, PerLane

CHEAP = 12
"""A value is computed again in a later fork, rather than collected, up to this many nodes."""


class ForkNest:
    """An open nest of forks with their joins in waiting.

    `ids` are the ThreadIDs for x, y, z; None where there is no fork.
    """

    def __init__(self, graph: Graph, control: h.Node, factors: Sequence[h.DynamicConstant | None]) -> None:
        """`factors` for x, y, z; None makes no fork for that dimension."""
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
        """A value carried across all threads: a Reduce for each join, outermost first; the updates come with
        `finish`.
        """
        reduces: list[h.Reduce] = []
        for join in self.joins:
            reduce = self.graph.add(h.Reduce(join, init, init, label=label))
            reduces.append(reduce)
            init = reduce
        return reduces

    @staticmethod
    def finish(reduces: Sequence[h.Reduce], update: h.Node) -> h.Reduce:
        """Close the Reduces with the value at the end of a thread; the outermost is the value after the nest."""
        for reduce in reversed(reduces):
            reduce.update = update
            update = reduce
        return reduces[0]

    def close(self, control: h.Node) -> h.Node:
        """Join all threads, which have reached `control`; the control after the nest."""
        for join in reversed(self.joins):
            join.control = control
            control = self.graph.add(join)
        return control


class LaneFork:
    """The open fork nest over a workgroup's lanes, or one that is closed and whose values are still wanted.

    A workgroup of one invocation has a nest without forks: it works the same.
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
        """Whether the node is a shared cell's version from before the fork."""
        return any(node in reduces for reduces in self._reduces.values())

    def adopt(self, cell: Cell, version: h.Node) -> None:
        """Count a shared cell that is made now, of nothing inside, among those from before the fork."""
        self.versions[cell] = version

    def complete(self, state: dict[Cell, h.Node | PerLane]) -> None:
        """Put in the cells that have been made for all lanes since the state left."""
        for cell, version in self.versions.items():
            state.setdefault(cell, version)

    def close(self, control: h.Node, versions: Mapping[Cell, h.Node]) -> tuple[h.Node, dict[Cell, h.Node]]:
        """Join the lanes at `control`, where the shared cells have these versions: the control and the versions
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
        """The values a scalar has in each lane, as an array outside of the fork, which must be closed. Only for
        reading.
        """
        if node not in self._collects:
            self._collects[node] = self.collect_anew(node)
        return self._collects[node]

    def collect_anew(self, node: h.Node) -> h.Node:
        """`collect` into an array of its own, which a Phi may take over."""
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
        """A scalar of an earlier, closed fork, in this one: computed again if that is cheap, else collected and read
        back.
        """
        if node not in self._imports:
            copy = self._recompute(node, source, self.nest.thread_ids)
            self._imports[node] = copy or self.lane_of(source.collect(node))
        return self._imports[node]

    def first_lane(self, node: h.Node) -> h.Node:
        """The value a scalar of this closed fork has in the first lane: for what is uniform by WGSL's rules."""
        zero = self.graph.u64(0)
        copy = self._recompute(node, self, [zero] * len(self.nest.joins))
        if copy is not None:
            return copy
        return self.graph.add(h.Read(self.collect(node), [h.PositionIndex(zero) for _ in self.nest.joins]))

    def _recompute(self, node: h.Node, source: LaneFork, thread_ids: Sequence[h.Node]) -> h.Node | None:
        """The node again with other thread IDs; None when that takes more than `CHEAP` nodes or is not possible."""
        if not _is_cheap(node, source):
            return None
        mapping: dict[h.Node, h.Node] = dict(zip(source.nest.thread_ids, thread_ids, strict=True))

        def mapped(value: h.Node) -> h.Node:
            if source.graph.owner(value) is not source:
                return value
            if value not in mapping:
                copy = value.copy()
                copy.map_inputs(mapped)
                copy.span = None  # that of the instruction it is made for
                mapping[value] = source.graph.add(copy)
            return mapping[value]

        return mapped(node)


def _is_cheap(node: h.Node, source: LaneFork) -> bool:
    """Whether all that the node takes inside its fork are thread IDs and at most `CHEAP` pure scalar operations."""
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
