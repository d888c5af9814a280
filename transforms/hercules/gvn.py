"""Global value numbering: computes each value once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ...ir.hercules.builder import constant_key
from ...ir.hercules.graph import predecessors, replace_all
from ...ir.hercules.nodes import (
    Binary,
    BinaryOp,
    Bitcast,
    Call,
    Cast,
    ConstantNode,
    DynamicConstantNode,
    FieldIndex,
    Fork,
    Function,
    Intrinsic,
    Module,
    Node,
    Parameter,
    Phi,
    PositionIndex,
    Read,
    Reduce,
    Select,
    ThreadID,
    Unary,
    VariantIndex,
)
from ...ir.hercules.schedule import Latest, latest_places
from ...ir.hercules.types import is_scalar
from ...ir.hercules.versions import is_version_projection

_COMMUTATIVE = frozenset(
    {BinaryOp.ADD, BinaryOp.MUL, BinaryOp.EQUAL, BinaryOp.NOT_EQUAL, BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR}
)


@dataclass(frozen=True)
class GlobalValueNumbering:
    """Merges pure nodes that compute the same from the same, until there are none.

    Reads of one version are merged; what makes or changes storage (constants of collection type, Write, Atomic,
    Collect, Reduce) never is: two zero arrays are two arrays. A Reduce is one value inside its fork and another after
    the join, so nodes on the two sides are kept apart. After Click, "Global Code Motion / Global Value Numbering",
    hash-based.
    """

    name = "gvn"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            plan = latest_places(function)
            while _merge(function, plan):
                changed = True
        return changed


def _merge(function: Function, plan: Latest) -> bool:
    """One round. The plan is that from before the first: merging moves no node to the other side of a join."""
    first: dict[Hashable, Node] = {}
    replacements: dict[Node, Node] = {}
    for node in function.nodes:
        if node not in plan.place:
            continue
        same = _only_value(node)
        key = None if same is not None else _key(node, plan, replacements)
        if key is not None:
            same = first.setdefault(key, node)
        if same is not None and same is not node and is_scalar(plan.types[node]) | is_version_projection(node):
            replacements[node] = same
    replace_all(function, replacements)
    function.nodes = [node for node in function.nodes if node not in replacements]
    return bool(replacements)


def _only_value(node: Node) -> Node | None:
    """The value of a phi that has only one, besides itself."""
    if not isinstance(node, Phi):
        return None
    others = {it for it in node.values if it is not node}
    return others.pop() if len(others) == 1 else None


def _key(node: Node, plan: Latest, replacements: dict[Node, Node]) -> Hashable | None:
    """Equal for nodes of the same value; None for what is not to be merged."""
    operation = _operation(node, plan)
    if operation is None:
        return None
    operands = [_operand(replacements.get(it, it), node, plan) for it in predecessors(node)]
    if isinstance(node, Binary) and node.op in _COMMUTATIVE:
        operands.sort(key=hash)
    return (type(node), *operation, *operands)


def _operand(operand: Node, user: Node, plan: Latest) -> Hashable:
    """The operand; for a Reduce also whether it is the value inside the fork."""
    fork = plan.place.get(operand)
    if isinstance(operand, Reduce) and isinstance(fork, Fork):
        return operand, fork in plan.nest.around[plan.place[user]]
    return operand


def _operation(node: Node, plan: Latest) -> tuple[Hashable, ...] | None:
    """What the node does, apart from its operands; None if it must not be merged."""
    match node:
        case ConstantNode(value) if is_scalar(plan.types[node]):
            return (constant_key(value),)
        case DynamicConstantNode(dynamic):
            return (dynamic,)
        case Parameter(index):
            return (index,)
        case ThreadID() | Select():
            return ()
        case Phi() if is_scalar(plan.types[node]):
            return ()
        case Unary(op) | Binary(op):
            return (op,)
        case Cast(type) | Bitcast(type):
            return (type,)
        case Intrinsic(function, type):
            return (function, type)
        case Call(callee, dynamic_constants) if is_scalar(plan.types[node]):
            return (callee, *dynamic_constants)
        case Read(indices=indices) if is_scalar(plan.types[node]) or is_version_projection(node):
            return tuple(_index_key(it) for it in indices)
        case _:
            return None


def _index_key(index: object) -> Hashable:
    match index:
        case FieldIndex(number) | VariantIndex(number):
            return type(index), number
        case PositionIndex():
            return PositionIndex  # the position is among the operands
        case _:
            raise AssertionError("control is not data")
