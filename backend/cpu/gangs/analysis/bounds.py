"""Constants and upper bounds of integers, from the nodes that compute them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from .....ir.hercules import nodes as h


def constant_value(node: h.Node) -> int | None:
    """The value of an integer constant."""
    match node:
        case h.ConstantNode(value=h.IntegerConstant(value=value)):
            return value
        case h.ConstantNode(value=h.ZeroConstant(type=h.Integer())):
            return 0
        case _:
            return None


def greatest(node: h.Node, types: Mapping[h.Node, h.Type], depth: int = 8) -> int | None:
    """An upper bound of an unsigned integer; None for other types."""
    type = types.get(node)
    if not isinstance(type, h.Integer) or type.signed:
        return None
    limit = (1 << type.bits) - 1
    if depth == 0:
        return limit
    match node:
        case h.ConstantNode():
            value = constant_value(node)
            return limit if value is None else value
        case h.ThreadID(fork=h.Fork(factor=h.DynamicLiteral(value=factor))):
            return factor - 1
        case h.Cast(operand=operand):
            inner = greatest(operand, types, depth - 1)
            return inner if inner is not None and inner <= limit else limit
        case h.Binary(op=op, lhs=lhs, rhs=rhs):
            left, right = greatest(lhs, types, depth - 1), greatest(rhs, types, depth - 1)
            if left is None or right is None:
                return limit
            return min(_greatest_binary(op, left, right, limit, constant_value(rhs)), limit)
        case h.Intrinsic(function="min", arguments=arguments):
            bounds = [greatest(it, types, depth - 1) for it in arguments]
            return min([it for it in bounds if it is not None], default=limit)
        case h.Read(collection=h.ConstantNode(value=h.ArrayConstant(elements=elements)), indices=[h.PositionIndex()]):
            values = [it.value for it in elements if isinstance(it, h.IntegerConstant)]
            return max(values) if len(values) == len(elements) > 0 else limit
        case h.Intrinsic(function="extractBits", arguments=[_, _, count]) if (
            bits := constant_value(count)
        ) is not None:
            return min((1 << min(bits, 32)) - 1, limit)
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return limit
        case _:
            assert_never(node)


def never_wraps(node: h.Node, types: Mapping[h.Node, h.Type]) -> bool:
    """Whether a sum or product of unsigned integers is in the range of its type, whatever its operands are."""
    type = types.get(node)
    if not isinstance(node, h.Binary) or not isinstance(type, h.Integer) or type.signed:
        return False
    left, right = greatest(node.lhs, types), greatest(node.rhs, types)
    found = None if left is None or right is None else _unlimited(node.op, left, right)
    return found is not None and found < 1 << type.bits


def _unlimited(op: h.BinaryOp, left: int, right: int) -> int | None:
    """The greatest sum or product as if it could not wrap; None for other operations."""
    match op:
        case h.BinaryOp.ADD:
            return left + right
        case h.BinaryOp.MUL:
            return left * right
        case _:
            return None


def _greatest_binary(op: h.BinaryOp, left: int, right: int, limit: int, constant: int | None) -> int:
    match op:
        case h.BinaryOp.AND:
            return min(left, right)
        case h.BinaryOp.DIV:
            return left // constant if constant else left
        case h.BinaryOp.REM:
            return min(left, max(right, 1) - 1) if constant else left
        case h.BinaryOp.SHIFT_RIGHT:
            return left >> constant if constant is not None and 0 <= constant < 32 else left
        case h.BinaryOp.OR | h.BinaryOp.XOR:
            return (1 << max(left.bit_length(), right.bit_length())) - 1
        case _:
            found = _unlimited(op, left, right)
            return limit if found is None else found
