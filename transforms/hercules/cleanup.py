"""Edits that several passes share: removal of unreachable control and of nodes that nothing needs, and undoing."""

from __future__ import annotations

from ...base.records import dataclass
from ...ir.hercules.analyses import control_graph
from ...ir.hercules.graph import is_control, replace_all
from ...ir.hercules.nodes import Function, Node, Parameter, Phi, Region, Start
from ...ir.hercules.placement import live_nodes


def remove_unreachable(function: Function) -> bool:
    """Drop control that Start does not reach, and the inputs of regions from there; whether anything was dropped.

    A region with a single remaining predecessor disappears, and its phis with it.
    """
    reached = set(control_graph(function).order)
    changed = False
    for node in function.nodes:
        if isinstance(node, Phi) and isinstance(node.region, Region):
            incoming = zip(node.values, node.region.predecessors, strict=True)
            node.values = [value for value, predecessor in incoming if predecessor in reached]
    for node in function.nodes:
        if isinstance(node, Region):
            kept = [predecessor for predecessor in node.predecessors if predecessor in reached]
            changed |= len(kept) != len(node.predecessors)
            node.predecessors = kept
    changed |= any(is_control(node) and node not in reached for node in function.nodes)
    function.nodes = [node for node in function.nodes if not _is_unreachable(node, reached)]
    return _remove_single_ways(function) or changed


def _is_unreachable(node: Node, reached: set[Node]) -> bool:
    return (node.region if isinstance(node, Phi) else node) not in reached and (
        isinstance(node, Phi) or is_control(node)
    )


def _remove_single_ways(function: Function) -> bool:
    replacements: dict[Node, Node] = {}
    for node in function.nodes:
        if isinstance(node, Region) and len(node.predecessors) == 1:
            replacements[node] = node.predecessors[0]
        elif isinstance(node, Phi) and len(node.values) == 1:
            replacements[node] = node.values[0]
    replace_all(function, replacements)
    function.nodes = [node for node in function.nodes if node not in replacements]
    return bool(replacements)


def remove_dead(function: Function) -> bool:
    """Drop data that reachable control does not need; whether there was any. Parameters stay."""
    live = live_nodes(function, control_graph(function))
    kept = [node for node in function.nodes if node in live or isinstance(node, (Start, Parameter))]
    changed = len(kept) != len(function.nodes)
    function.nodes = kept
    return changed


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The nodes of a function with the values of their fields."""

    function: Function
    nodes: tuple[Node, ...]
    copies: tuple[Node, ...]

    @staticmethod
    def of(function: Function) -> Snapshot:
        """The function as it is."""
        return Snapshot(function, tuple(function.nodes), tuple(it.copy() for it in function.nodes))

    def restore(self) -> None:
        """Make the function what it was."""
        self.function.nodes = list(self.nodes)
        for node, copy in zip(self.nodes, self.copies, strict=True):
            for info in node.FIELDS:
                setattr(node, info.name, getattr(copy, info.name))
