"""Divergent exits of a lane fork, and values that are defined on one of them only.

A `return` that all lanes of a workgroup take together may be inside the fork over the lanes. Its path and the path of
the lanes that continue merge before the join and separate again after it. A value that is defined on one path only
reaches the join through a Phi, whose inputs from the other paths are zeros that nothing reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.records import dataclass
from ...ir.hercules import nodes as h
from ...ir.hercules.graph import predecessors
from ...ir.hercules.inference import infer_types
from .graph import Graph

if TYPE_CHECKING:
    from .forks import LaneFork

_FLOATING = (h.ConstantNode, h.DynamicConstantNode, h.ScalarNode, h.Read, h.ThreadID, h.Collect)
"""Nodes that are not pinned: they may be placed wherever their inputs are available."""


@dataclass(frozen=True, slots=True)
class DivergentExits:
    """The region in which the exits of a lane fork merge, and the number of nodes that existed when each exit left."""

    region: h.Region
    left: tuple[int, ...]

    def at_join(self, node: h.Node, lanes: LaneFork) -> h.Node:
        """The scalar as it is at the join of the lanes: a Phi if only some of the exits define it."""
        graph = lanes.graph
        if not self._is_of_one_way(node, lanes):
            return node
        known = [graph.number(node) < left for left in self.left]
        phi = graph.add_outside(h.Phi(self.region, [node for _ in self.left], label=node.label))
        graph.unmet.append(Unmet(phi, tuple(index for index, is_known in enumerate(known) if not is_known)))
        return phi

    def _is_of_one_way(self, node: h.Node, lanes: LaneFork) -> bool:
        """Whether the scalar depends on a pinned node that was made after the first exit left."""
        graph, first = lanes.graph, min(self.left)
        seen: set[h.Node] = set()
        pending = [node]
        while pending:
            value = pending.pop()
            if value in seen or graph.number(value) < first or graph.owner(value) is not lanes:
                continue
            if isinstance(value, h.Phi) and value.region is self.region:
                continue
            seen.add(value)
            if not isinstance(value, _FLOATING) and not lanes.carries(value):
                return True
            pending.extend(predecessors(value))
        return False


@dataclass(frozen=True, slots=True)
class Unmet:
    """A Phi that gets zeros as its inputs at `edges` once the function is complete, when its type can be inferred."""

    phi: h.Phi
    edges: tuple[int, ...]


def fill_unmet(graph: Graph, function: h.Function) -> None:
    """Put zeros into the Phis of divergent exits."""
    if not graph.unmet:
        return
    types = infer_types(function)
    for unmet in graph.unmet:
        zero = graph.zero(types[unmet.phi])
        for edge in unmet.edges:
            unmet.phi.values[edge] = zero
