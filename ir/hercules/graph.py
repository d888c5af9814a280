"""The edges of the sea of nodes: predecessors, their replacement, and the inverse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .nodes import (
    Atomic,
    Binary,
    Bitcast,
    Call,
    Cast,
    Collect,
    ConstantNode,
    ControlIndex,
    DynamicConstantNode,
    Fork,
    Function,
    If,
    Index,
    Intrinsic,
    Join,
    Match,
    Node,
    Parameter,
    Phi,
    PositionIndex,
    ProductNode,
    Read,
    Reduce,
    Region,
    Return,
    Select,
    Start,
    ThreadID,
    Unary,
    Write,
)


def positions(indices: Iterable[Index]) -> tuple[Node, ...]:
    """The nodes among indices."""
    return tuple([index.position for index in indices if isinstance(index, PositionIndex)])


def predecessors(node: Node) -> tuple[Node, ...]:
    """What the node uses, control included, in the order of the schema's fields; a node used twice stands twice."""
    match node:
        case Binary():
            return (node.lhs, node.rhs)
        case Read():
            return (node.collection, *positions(node.indices))
        case ConstantNode() | DynamicConstantNode() | Parameter() | Start():
            return ()
        case Cast() | Bitcast() | Unary():
            return (node.operand,)
        case Phi():
            return (node.region, *node.values)
        case Write():
            return (node.collection, node.value, *positions(node.indices))
        case Intrinsic() | Call():
            return tuple(node.arguments)
        case Select():
            return (node.condition, node.if_true, node.if_false)
        case ThreadID():
            return (node.fork,)
        case Region():
            return tuple(node.predecessors)
        case If():
            return (node.control, node.condition)
        case Match():
            return (node.control, node.sum)
        case Fork() | Join():
            return (node.control,)
        case Reduce():
            return (node.join, node.init, node.update)
        case Collect():
            return (node.join, node.value)
        case Return():
            return (node.control, node.value)
        case Atomic():
            return (node.collection, *positions(node.indices), *node.operands)
        case ProductNode():
            return tuple(node.fields)


def map_predecessors(node: Node, change: Callable[[Node], Node]) -> None:
    """Replace every predecessor `p` of the node by `change(p)`."""
    match node:
        case ConstantNode() | DynamicConstantNode() | Parameter() | Start():
            pass
        case Binary():
            node.lhs, node.rhs = change(node.lhs), change(node.rhs)
        case Read():
            node.collection, node.indices = change(node.collection), _map_indices(node.indices, change)
        case Write():
            node.collection, node.value = change(node.collection), change(node.value)
            node.indices = _map_indices(node.indices, change)
        case Cast() | Bitcast() | Unary():
            node.operand = change(node.operand)
        case Phi():
            node.region, node.values = change(node.region), [change(it) for it in node.values]
        case Intrinsic() | Call():
            node.arguments = [change(it) for it in node.arguments]
        case Select():
            node.condition = change(node.condition)
            node.if_true, node.if_false = change(node.if_true), change(node.if_false)
        case ThreadID():
            node.fork = change(node.fork)
        case Region():
            node.predecessors = [change(it) for it in node.predecessors]
        case If():
            node.control, node.condition = change(node.control), change(node.condition)
        case Match():
            node.control, node.sum = change(node.control), change(node.sum)
        case Fork() | Join():
            node.control = change(node.control)
        case Reduce():
            node.join, node.init, node.update = change(node.join), change(node.init), change(node.update)
        case Collect():
            node.join, node.value = change(node.join), change(node.value)
        case Return():
            node.control, node.value = change(node.control), change(node.value)
        case Atomic():
            node.collection, node.indices = change(node.collection), _map_indices(node.indices, change)
            node.operands = [change(it) for it in node.operands]
        case ProductNode():
            node.fields = [change(it) for it in node.fields]


def _map_indices(indices: list[Index], change: Callable[[Node], Node]) -> list[Index]:
    return [PositionIndex(change(it.position)) if isinstance(it, PositionIndex) else it for it in indices]


def replace_predecessor(node: Node, old: Node, new: Node) -> None:
    """Put `new` wherever the node uses `old`."""
    map_predecessors(node, lambda it: new if it is old else it)


def replace_all(function: Function, replacements: Mapping[Node, Node]) -> None:
    """Put each node's replacement, followed to its end, wherever the node is used. The nodes themselves stay."""

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
    """Whether it is a Read of one way out of an If or Match."""
    return isinstance(node, Read) and len(node.indices) > 0 and isinstance(node.indices[0], ControlIndex)


_CONTROL = frozenset((Start, Region, If, Match, Fork, Join, Return))


def is_control(node: Node) -> bool:
    """Whether the node is a place that control passes: it has a control type, or branches, or returns."""
    return type(node) in _CONTROL or is_projection(node)


def control_predecessors(node: Node) -> tuple[Node, ...]:
    """Where control comes from to a control node; nothing for Start and for data."""
    match node:
        case Region():
            return tuple(node.predecessors)
        case If() | Match() | Fork() | Join() | Return():
            return (node.control,)
        case Read() if is_projection(node):
            return (node.collection,)
        case _:
            return ()
