"""Which leaves of a graph are fused: leaves are taken together along one one-to-one edge after another, as long as the
rules of `one_to_one` allow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...ir import types as w
from ...ir.dataflow.expressions import difference, expressions_of, references
from ...ir.dataflow.nodes import Endpoint, Expression, Replication
from ...ir.dataflow.scope import inputs_of
from ...ir.source import Span
from .kernel_graph import KernelGraph
from .nests import check_body
from .refusal import Refused
from .storings import Storing, find_storings

MOST_STORAGE_BUFFERS: Final = 8
MOST_UNIFORM_BUFFERS: Final = 12
"""WebGPU's default limits for a shader stage."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Why leaves were not fused, or that they were: about the edge at `span` of the graph's text, with the place `at`
    in the shader `shader` if there is one.
    """

    message: str
    edge: str
    is_fused: bool
    span: Span | None = None
    shader: str | None = None
    at: Span | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """Nodes that become one, in the order in which their kernels run, with their storage."""

    nodes: tuple[str, ...]
    storings: tuple[Storing, ...]


def find_groups(graph: KernelGraph) -> tuple[list[Group], list[Remark]]:
    """The groups of two nodes or more, in an order in which they can run, and what became of each one-to-one edge."""
    merging = _Merging(graph)
    merging.run()
    return [it for it in dict.fromkeys(merging.groups.values()) if len(it.nodes) > 1], merging.remarks


class _Merging:
    def __init__(self, graph: KernelGraph) -> None:
        self.flat = graph.flat
        self.graph = graph
        self.remarks: list[Remark] = []
        self.groups: dict[str, Group] = {}
        """By their nodes."""

    def run(self) -> None:
        for end, given in list(self.flat.inputs.items()):
            value = given.value
            if not isinstance(value, Endpoint) or given.replication is not Replication.ONE_TO_ONE:
                continue
            source, sink = value.node, end.node
            if sink in self._nodes_with(source):
                continue
            edge = f"{value.node}.{value.port} -> {end.node}.{end.port}"
            try:
                self._merge(source, sink)
            except Refused as refused:
                shader = self.graph.shader_of(refused.kernel)
                self.remarks.append(
                    Remark(f"not fused: {_about(refused)}", edge, False, given.span, shader, refused.span)
                )
            else:
                self.remarks.append(Remark("fused", edge, True, given.span))

    def _nodes_with(self, node: str) -> tuple[str, ...]:
        return self.groups[node].nodes if node in self.groups else (node,)

    def _merge(self, source: str, sink: str) -> None:
        """Put the groups of two nodes together. Raises Refused."""
        chosen = {*self._nodes_with(source), *self._nodes_with(sink)}
        ordered = tuple(it for it in self.flat.nodes if it in chosen)  # nodes are in the order of execution
        self._check_grids(ordered)
        self._check_order(chosen)
        first = self.graph.accesses(ordered[0]).entry
        for name in ordered:
            try:
                check_body(self.graph.accesses(name).entry, first)
            except Refused as refused:
                place = self.graph.accesses(name).cooperation if refused.span is None else refused.span
                raise Refused(refused.reason, place, name) from None
        group = Group(ordered, find_storings(self.graph, ordered))
        _check_limits(group)
        self.groups.update(dict.fromkeys(ordered, group))

    def _check_grids(self, ordered: Sequence[str]) -> None:
        first = self.flat.nodes[ordered[0]].extents
        for name in ordered[1:]:
            extents = self.flat.nodes[name].extents
            if len(extents) != len(first) or any(map(difference, first, extents)):
                raise Refused("the extents of the kernels differ [grids]", None, name)
        for name in ordered:
            for extent in self.flat.nodes[name].extents:
                self._check_known(extent, name)

    def _check_known(self, expression: Expression, name: str) -> None:
        """Raise Refused for a number that is known only when a node has run."""
        for reference in references(expression):
            if reference.name in self.flat.nodes:
                raise Refused(f"its extents depend on what node {reference.name!r} gives [grids]", None, name)

    def _check_order(self, chosen: set[str]) -> None:
        """Raise Refused if a node outside runs between the chosen ones."""
        needs = {name: self._needs(name) for name in self.flat.nodes}
        behind: set[str] = set()
        for name in self.flat.nodes:
            if name not in chosen and needs[name] & (chosen | behind):
                behind.add(name)
            if name in chosen and needs[name] & behind:
                between = sorted(needs[name] & behind)[0]
                raise Refused(
                    f"node {between!r} needs a result of one, and gives another its input [order]", None, name
                )

    def _needs(self, name: str) -> set[str]:
        """The nodes whose results a node needs."""
        found = {it.name for own in expressions_of(self.flat.nodes[name]) for it in references(own)}
        for port in inputs_of(self.flat.functions[self.flat.nodes[name].function]):
            value = self.flat.inputs[Endpoint(name, port)].value
            if isinstance(value, Endpoint):
                found.add(value.node)
                continue
            for it in references(value):
                found.add(it.name)
                if it.name in self.flat.transients:
                    found |= {
                        other.name for size in self.flat.transients[it.name].extents for other in references(size)
                    }
        return found & set(self.flat.nodes)


def _about(refused: Refused) -> str:
    return f"{refused.kernel}: {refused.reason}" if refused.kernel else refused.reason


def _check_limits(group: Group) -> None:
    kept = [it.storage.binding for it in group.storings if it.storage.is_kept]
    storage = sum(it.space is w.AddressSpace.STORAGE for it in kept)
    uniform = len(kept) - storage
    if storage > MOST_STORAGE_BUFFERS or uniform >= MOST_UNIFORM_BUFFERS:
        raise Refused(
            f"the fused kernel would have {storage} storage buffers and {uniform} uniform buffers, besides one of "
            f"lengths; {MOST_STORAGE_BUFFERS} and {MOST_UNIFORM_BUFFERS} are allowed in all [limits]",
            None,
            group.nodes[-1],
        )
