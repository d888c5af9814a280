"""Global value numbering: computes each value once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeAlias

from ...base.deadline import check_compile_time
from ...base.records import dataclass
from ...ir.hercules.graph import predecessors, replace_all
from ...ir.hercules.nodes import (
    Binary,
    BinaryOp,
    Bitcast,
    ConstantNode,
    Fork,
    Function,
    IntegerConstant,
    Intrinsic,
    Module,
    Node,
    Phi,
    PureNode,
    Reduce,
    Type,
    ZeroConstant,
)
from ...ir.hercules.placement import Latest, latest_places
from ...ir.hercules.types import I32, U32, is_scalar
from ...ir.hercules.versions import is_version_projection
from ...ir.schema.runtime import value_key


@dataclass(frozen=True)
class GlobalValueNumbering:
    """Merges pure nodes with the same operation and operands, until there are none, and bounds of what has that bound.
    Integers that differ from one other by constants are compared by the sum of these, as `y + 1 - 3` and `y - 2`.

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
            latest = latest_places(function)
            while _merge(function, latest):
                changed = True
        return changed


Types: TypeAlias = "Mapping[Node, Type]"
_WRAPPING = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL)


def _merge(function: Function, latest: Latest) -> bool:
    """One round. `latest` is computed before the first round: merging moves no node to the other side of a join."""
    check_compile_time()
    first: dict[Hashable, Node] = {}
    replacements: dict[Node, Node] = {}
    for node in function.nodes:
        if node not in latest.place or not _is_merged(node, latest):
            continue
        same = _only_value(node) or _within_bound(node, latest.types) or _moved_nowhere(node, latest)
        if same is None and isinstance(node, PureNode):
            same = first.setdefault(_key(node, latest, replacements), node)
        if same is not None and same is not node:
            replacements[node] = same
    replace_all(function, replacements)
    function.nodes = [node for node in function.nodes if node not in replacements]
    return bool(replacements)


def _within_bound(node: Node, types: Types) -> Node | None:
    """The first operand of a `min` of u32 that bounds it by the same number once more, as loads of texels do.

    For `clamp(x, 0, most)` of i32 as well, whatever `most` is: a negative one is the result, as the clamp is
    `min(max(x, 0), most)`.
    """
    if not isinstance(node, Intrinsic) or node.function != "min" or node.type != U32:
        return None
    value, bound = node.arguments
    match _bits(value, types):
        case Intrinsic(function="clamp", arguments=[_, ConstantNode(value=low), most]):
            is_zero = isinstance(low, ZeroConstant) or (isinstance(low, IntegerConstant) and low.value == 0)
            is_same = is_zero and _has_same_bits(most, bound, types)
        case Intrinsic(function="min", type=type, arguments=arguments) if type == U32:
            is_same = any(_has_same_bits(it, bound, types) for it in arguments)
        case _:
            is_same = False
    return value if is_same else None


def _has_same_bits(one: Node, other: Node, types: Types, depth: int = 3) -> bool:
    """Whether two integers of 32 bits are computed from the same bits by the same operations, signed or not."""
    match _bits(one, types), _bits(other, types):
        case left, right if left is right:
            return True
        case ConstantNode(value=IntegerConstant(value=left)), ConstantNode(value=IntegerConstant(value=right)):
            return (left - right) % (1 << 32) == 0
        case Binary(op=op, lhs=left, rhs=right), Binary(op=op_, lhs=left_, rhs=right_) if op is op_ in _WRAPPING:
            is_same = depth > 0 and _has_same_bits(left, left_, types, depth - 1)
            return is_same and _has_same_bits(right, right_, types, depth - 1)
        case _:
            return False


def _bits(node: Node, types: Types) -> Node:
    """The integer that an integer of 32 bits is a bitcast of."""
    while isinstance(node, Bitcast) and types[node.operand] in (I32, U32):
        node = node.operand
    return node


def _is_merged(node: Node, latest: Latest) -> bool:
    """Whether nodes of its type may be one: a collection is storage of its own."""
    return is_scalar(latest.types[node]) or is_version_projection(node)


def _only_value(node: Node) -> Node | None:
    """The value of a phi that has only one, besides itself."""
    if not isinstance(node, Phi):
        return None
    others = {it for it in node.values if it is not node}
    return others.pop() if len(others) == 1 else None


def _key(node: Node, latest: Latest, replacements: dict[Node, Node]) -> Hashable:
    """Equal for nodes of the same value."""
    moved = _moved(node, latest)
    if moved is not None:
        base, user, offset = moved
        return "moved", latest.types[node], _operand(replacements.get(base, base), user, latest), offset
    return value_key(node, [_operand(replacements.get(it, it), node, latest) for it in predecessors(node)])


def _moved(node: Node, latest: Latest) -> tuple[Node, Node, int] | None:
    """The integer of 32 bits that a sum or difference moves by constants, the operation that takes it, and how far in
    all. Integers wrap, so that the constants may be added up first.
    """
    user, total, step = node, 0, _step(node, latest.types)
    if step is None:
        return None
    while step is not None:
        base, offset = step
        total = (total + offset) % (1 << 32)
        node, step = base, _step(base, latest.types)
        user = user if step is None else base
    return node, user, total


def _step(node: Node, types: Types) -> tuple[Node, int] | None:
    """What an operation adds a constant to, and the constant."""
    if types.get(node) not in (I32, U32):
        return None
    match node:
        case Binary(op=BinaryOp.ADD, lhs=base, rhs=ConstantNode(value=IntegerConstant(value=value))):
            return base, value
        case Binary(op=BinaryOp.ADD, lhs=ConstantNode(value=IntegerConstant(value=value)), rhs=base):
            return base, value
        case Binary(op=BinaryOp.SUB, lhs=base, rhs=ConstantNode(value=IntegerConstant(value=value))):
            return base, -value
        case _:
            return None


def _moved_nowhere(node: Node, latest: Latest) -> Node | None:
    """The integer that constants move by nothing in all."""
    moved = _moved(node, latest)
    if moved is None or moved[2] != 0 or isinstance(moved[0], Reduce):
        return None
    return moved[0]


def _operand(operand: Node, user: Node, latest: Latest) -> Hashable:
    """The operand; for a Reduce also whether it is the value inside the fork."""
    fork = latest.place.get(operand)
    if isinstance(operand, Reduce) and isinstance(fork, Fork):
        return operand, fork in latest.nest.around[latest.place[user]]
    return operand
