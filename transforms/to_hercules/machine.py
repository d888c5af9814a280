"""The state of a translation: the current control node, the open lane fork, and each cell's current version.

At *workgroup level* there is one thread of control for each workgroup. A scalar there has one value for all lanes, or
belongs to a lane fork that is closed, or is a PerLane array. `local` makes any of them available in the open lane fork,
and opens a fork if none is open.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from ...ir.builtins import SUBGROUP_SIZE
from ...ir.diagnostics import ShaderError, not_supported
from ...ir.handle_facts import TextureFacts
from ...ir.hercules import nodes as h
from .forks import LaneFork
from .graph import Graph
from .values import Cell, PerLane, Snapshot, Tree, map_tree, node_of

State = dict[Cell, "h.Node | PerLane"]


class Restart(Exception):
    """An assumption of this attempt was wrong, such as that a scalar is uniform: translate again without it."""


class Edge:
    """A control flow edge to a label: its control, state and arguments; `left` is the node count at its creation."""

    __slots__ = ("arguments", "control", "left", "state")

    def __init__(self, control: h.Node, state: State, arguments: tuple[Tree, ...] = (), left: int = 0) -> None:
        self.control = control
        self.state = state
        self.arguments = arguments
        self.left = left


class Machine:
    """The state of a translation (see the module's docstring). `control` is None in unreachable code.

    `size` is that of a workgroup, `subgroup_size` that of its subgroups. `spreads_arrays`: arrays of a lane that are
    created now may be used after a barrier.
    """

    def __init__(self, graph: Graph, size: tuple[int, int, int], subgroup_size: int = SUBGROUP_SIZE) -> None:
        self.graph = graph
        self.size = size
        self.subgroup_size = subgroup_size
        self.control: h.Node | None = graph.start
        self.state: State = {}
        self.constants: dict[Cell, h.Node] = {}
        self.texture_facts: dict[Cell, TextureFacts] = {}
        self.lane: LaneFork | None = None
        self.spreads_arrays = False
        self._lane_values: dict[tuple[LaneFork, h.Node], h.Node] = {}

    # Lanes

    def open_lane(self) -> LaneFork:
        """The open lane fork; opens one if none is open."""
        if self.lane is None:
            assert self.control is not None
            self.lane = LaneFork(self.graph, self.control, self.size, self._shared_versions())
            self.control = self.lane.nest.inside
        return self.lane

    def join_lanes(self) -> None:
        """Close the open lane fork at the current control."""
        assert self.lane is not None
        assert self.control is not None
        self.control, versions = self.lane.close(self.control, self._shared_versions())
        self.state.update(versions)
        self.lane = None

    def _shared_versions(self) -> dict[Cell, h.Node]:
        return {
            cell: node_of(version)
            for cell, version in self.state.items()
            if cell.is_shared and not isinstance(version, PerLane)
        }

    def local(self, value: h.Node | PerLane) -> h.Node:
        """The scalar, carried into the open lane fork unless it already is usable there."""
        if isinstance(value, PerLane):
            lane = self.open_lane()
            key = (lane, value.array)
            if key not in self._lane_values:
                self._lane_values[key] = lane.lane_of(value.array)
            return self._lane_values[key]
        owner = self.graph.owner(value)
        if owner is None or owner is self.lane:
            return value
        return self.open_lane().carry(value, owner)

    def local_tree(self, tree: Tree) -> Tree:
        """The tree with `local` applied to its scalars."""
        return map_tree(tree, self.local)

    def is_uniform(self, value: Tree) -> bool:
        """Whether the value is a scalar that is known to be the same in all lanes of the workgroup."""
        return not isinstance(value, (PerLane, tuple)) and self.graph.owner(node_of(value)) is None

    def uniform(self, value: h.Node | PerLane) -> h.Node:
        """At workgroup level: the first lane's value, for a scalar that is uniform by WGSL's rules."""
        assert self.lane is None
        if isinstance(value, PerLane):
            zeros: list[h.Index] = [h.PositionIndex(self.graph.u64(0)) for extent in self.size if extent > 1]
            return self.graph.add(h.Read(value.array, zeros)) if zeros else value.array
        owner = self.graph.owner(value)
        return value if owner is None else owner.first_lane(value)

    # Cells

    def read(self, cell: Cell) -> h.Node:
        """The current version of a cell, usable in the open lane fork."""
        if cell.is_constant:
            return self.constants[cell]
        version = self.state[cell]
        if not cell.is_shared:
            if cell.is_collection and self.graph.owner(node_of(version)) not in (None, self.lane):
                raise ShaderError([not_supported("an array value that lives across a barrier", None)])
            return self.local(version)
        return self.open_lane().shared(cell, node_of(version))

    def declare(self, cell: Cell, version: h.Node) -> None:
        """Set the first version of a cell. A spread cell is declared for all lanes at once, before the open fork."""
        self.state[cell] = version
        if cell.is_spread and self.lane is not None:
            self.lane.adopt(cell, version)

    def write(self, cell: Cell, version: h.Node) -> None:
        """Set a new version of a cell."""
        self.state[cell] = version

    # Merging

    def edge(self, arguments: tuple[Tree, ...] = ()) -> Edge:
        """An edge from the current control; code after it is unreachable until `enter`."""
        assert self.control is not None
        edge = Edge(self.control, dict(self.state), arguments, len(self.graph.nodes))
        self.control = None
        return edge

    def enter(self, edges: Sequence[Edge]) -> tuple[Tree, ...]:
        """Continue at the merge of the edges; returns the merged arguments. Without edges, code here is unreachable."""
        if not edges:
            self.control = None
            return ()
        if len(edges) > 1:
            return self._merge(edges)
        self.control, self.state = edges[0].control, dict(edges[0].state)
        return edges[0].arguments

    @contextmanager
    def when(self, condition: h.Node) -> Generator[None, None, None]:
        """Make the code that the `with` block builds conditional."""
        self.open_lane()
        assert self.control is not None
        state = dict(self.state)
        self.control, otherwise = self.graph.branch(self.control, condition)
        yield
        self.enter([self.edge(), Edge(otherwise, state)])

    def choose(self, condition: h.Node, if_true: Callable[[], Tree], if_false: Callable[[], Tree]) -> Tree:
        """The value of one of two computations, of which the other is not done. Neither changes a cell."""
        self.open_lane()
        assert self.control is not None
        state = dict(self.state)
        self.control, otherwise = self.graph.branch(self.control, condition)
        edges = [self.edge((if_true(),))]
        self.enter([Edge(otherwise, state)])
        edges.append(self.edge((if_false(),)))
        (value,) = self.enter(edges)
        return value

    def _merge(self, edges: Sequence[Edge]) -> tuple[Tree, ...]:
        region = h.Region([])
        if self.lane is not None:
            for edge in edges:
                self.lane.complete(edge.state)
        first, *others = [edge.state for edge in edges]
        merged = dict(first)
        for cell in _that_differ(first, others):
            found = [version for state in others if (version := state.get(cell)) is not None]
            if len(found) == len(others):
                merged[cell] = self._merge_scalar(region, edges, [first[cell], *found], cell)
            else:
                del merged[cell]
        arguments = tuple(
            self._merge_tree(region, edges, [edge.arguments[index] for edge in edges])
            for index in range(len(edges[0].arguments))
        )
        region.predecessors.extend(edge.control for edge in edges)
        self.control = self.graph.add(region)
        self.state = merged
        return arguments

    def _merge_tree(self, region: h.Region, edges: Sequence[Edge], trees: Sequence[Tree]) -> Tree:
        first = trees[0]
        if all(tree is first for tree in trees):
            return first
        if isinstance(first, tuple):
            columns: list[Tree] = []
            for index in range(len(first)):
                columns.append(
                    self._merge_tree(region, edges, [tree[index] for tree in trees if isinstance(tree, tuple)])
                )
            return tuple(columns)
        if isinstance(first, Snapshot) and all(tree == first for tree in trees):
            return first
        if isinstance(first, Snapshot):
            raise ShaderError([not_supported("a choice between arrays as values", None)])
        return self._merge_scalar(region, edges, [_scalar(tree) for tree in trees], None)

    def _merge_scalar(
        self, region: h.Region, edges: Sequence[Edge], values: Sequence[h.Node | PerLane], cell: Cell | None
    ) -> h.Node | PerLane:
        """The value after a merge: a Phi if the values from the edges differ."""
        if all(value is values[0] for value in values):
            return values[0]
        label = cell.name if cell is not None else ""
        if self.lane is not None:
            return self.graph.add(h.Phi(region, [self.seen(cell, value) for value in values], label=label))
        if (cell is not None and cell.is_collection) or all(self.is_uniform(value) for value in values):
            return self.graph.add(h.Phi(region, [node_of(value) for value in values], label=label))
        arrays = [self.spread(edge, value) for edge, value in zip(edges, values, strict=True)]
        return PerLane(self.graph.add(h.Phi(region, arrays, label=label)))

    def seen(self, cell: Cell | None, value: h.Node | PerLane) -> h.Node:
        """A version as it is usable here: if a lane fork is open, through its Reduces or carried into it."""
        if self.lane is None:
            return node_of(value)
        if cell is not None and cell.is_shared:
            return self.lane.shared(cell, node_of(value))
        return self.local(value)

    def spread(self, edge: Edge, value: h.Node | PerLane) -> h.Node:
        """At workgroup level: a scalar as an array over the lanes, which is computed on the edge."""
        if isinstance(value, PerLane):
            return value.array
        owner = self.graph.owner(value)
        if owner is not None:
            return owner.collect_anew(value)
        fork = LaneFork(self.graph, edge.control, self.size, {})
        edge.control, _ = fork.close(fork.nest.inside, {})
        return fork.collect_anew(value)


def _that_differ(first: State, others: Sequence[State]) -> list[Cell]:
    """The cells whose version in some other state differs from that in the first. Of many cells, few do."""
    differing = {cell for state in others for cell, version in first.items() if state.get(cell) is not version}
    return [cell for cell in first if cell in differing] if differing else []


def _scalar(tree: Tree) -> h.Node | PerLane:
    return tree if isinstance(tree, PerLane) else node_of(tree)
