"""The edges of the sea of nodes: predecessors, their replacement, and the inverse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .nodes import ControlIndex, ControlNode, Function, Index, Node, PositionIndex, Read


def predecessors(node: Node) -> tuple[Node, ...]:
    """The operands of the node, control included, in the order of the schema's fields, with repetitions."""
    return node.inputs()


def positions_of(indices: Iterable[Index]) -> list[Node]:
    """The positions among the indices of an access."""
    return [it.position for it in indices if isinstance(it, PositionIndex)]


def reached_from(nodes: Iterable[Node], operands: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Some nodes, and what they are computed from as far as `operands` gives it, each once."""
    waiting, seen = list(nodes), dict[Node, None]()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen[node] = None
            waiting += operands(node)
    return list(seen)


def map_predecessors(node: Node, change: Callable[[Node], Node]) -> None:
    """Replace every predecessor `p` of the node by `change(p)`."""
    node.map_inputs(change)


def replace_predecessor(node: Node, old: Node, new: Node) -> None:
    """Replace `old` by `new` in the operands of a node."""
    map_predecessors(node, lambda it: new if it is old else it)


def replace_all(function: Function, replacements: Mapping[Node, Node]) -> None:
    """Replace all uses of nodes, following chains of replacements. The replaced nodes stay in the function."""

    def final(node: Node) -> Node:
        while (following := replacements.get(node)) is not None:
            node = following
        return node

    for node in function.nodes:
        map_predecessors(node, final)


def def_use(function: Function) -> dict[Node, tuple[Node, ...]]:
    """The users of every node, in the order of the node list, each once: the inverse of `predecessors`."""
    users: dict[Node, dict[Node, None]] = {node: {} for node in function.nodes}
    for node in function.nodes:
        for used in predecessors(node):
            users.setdefault(used, {})[node] = None
    return {node: tuple(them) for node, them in users.items()}


def is_projection(node: Node) -> bool:
    """Whether the node is a Read of one output of an If or Match."""
    return isinstance(node, Read) and len(node.indices) > 0 and isinstance(node.indices[0], ControlIndex)


def is_control(node: Node) -> bool:
    """Whether the node is a control node: it has a control type, branches, or returns."""
    return isinstance(node, ControlNode) or is_projection(node)


def control_predecessors(node: Node) -> tuple[Node, ...]:
    """The control predecessors of a control node; none for Start and for data nodes."""
    if isinstance(node, ControlNode):
        return node.control_inputs()
    return (node.collection,) if isinstance(node, Read) and is_projection(node) else ()
