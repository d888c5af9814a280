"""Makes nodes on 32-bit words for passes that replace other integers: constants are shared and folded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ...ir.hercules import nodes as h
from ...ir.hercules import operations
from ...ir.hercules.arithmetic import ScalarValue
from ...ir.hercules.types import U32, U64, Scalar, constant_type, is_scalar

if TYPE_CHECKING:
    from ...ir.source import Span

Op = h.BinaryOp
ALL_ONES: Final = 0xFFFF_FFFF

_RIGHT_IDENTITY: Final[Mapping[h.BinaryOp, int]] = {
    Op.ADD: 0,
    Op.SUB: 0,
    Op.OR: 0,
    Op.XOR: 0,
    Op.SHIFT_LEFT: 0,
    Op.SHIFT_RIGHT: 0,
    Op.MUL: 1,
    Op.DIV: 1,
}
"""`x op constant` is x."""
_LEFT_IDENTITY: Final[Mapping[h.BinaryOp, int]] = {Op.ADD: 0, Op.OR: 0, Op.XOR: 0, Op.MUL: 1}
"""`constant op x` is x."""
_ZERO: Final[frozenset[h.BinaryOp]] = frozenset({Op.MUL, Op.AND})
"""`x op 0` and `0 op x` are 0."""
_LEFT_ZERO: Final[frozenset[h.BinaryOp]] = frozenset({Op.SHIFT_LEFT, Op.SHIFT_RIGHT, Op.DIV, Op.REM})
"""`0 op x` is 0."""


def literal(node: h.Node) -> ScalarValue | None:
    """The value of a scalar constant; None for other nodes."""
    match node:
        case h.ConstantNode(value=h.BoolConstant(value) | h.IntegerConstant(value=value)):
            return value
        case h.ConstantNode(value=h.ZeroConstant(type=h.Integer())):
            return 0
        case h.ConstantNode(value=h.ZeroConstant(type=h.Bool())):
            return False
        case _:
            return None


@dataclass(slots=True)
class Words:
    """The nodes made so far. New nodes get `span`."""

    made: list[h.Node] = field(default_factory=list["h.Node"])
    span: Span | None = None
    _constants: dict[h.Constant, h.Node] = field(default_factory=dict["h.Constant", "h.Node"])

    def add(self, node: h.NodeT) -> h.NodeT:
        """Add any node."""
        if node.span is None:
            node.span = self.span
        self.made.append(node)
        return node

    def constant(self, value: h.Constant) -> h.Node:
        """A scalar constant, shared."""
        if value not in self._constants:
            node = self._constants[value] = h.ConstantNode(value)
            self.made.append(node)
        return self._constants[value]

    def integer(self, type: h.Type, value: int) -> h.Node:
        """An integer constant."""
        return self.constant(h.IntegerConstant(type, value))

    def u32(self, value: int) -> h.Node:
        """A u32 constant."""
        return self.integer(U32, value)

    def zero(self, type: h.Type) -> h.Node:
        """The zero of a collection type, in storage of its own."""
        return self.add(h.ConstantNode(h.ZeroConstant(type)))

    def binary(self, op: h.BinaryOp, lhs: h.Node, rhs: h.Node) -> h.Node:
        """`lhs op rhs`."""
        left, right = literal(lhs), literal(rhs)
        if left is not None and right is not None:
            return self._folded(h.Binary(op, lhs, rhs), lhs, rhs)
        if isinstance(left, bool) or isinstance(right, bool):
            known, other = (left, rhs) if left is not None else (right, lhs)
            if op in (Op.AND, Op.OR):
                absorbs = known is (op is Op.OR)
                return self.constant(h.BoolConstant(op is Op.OR)) if absorbs else other
        elif right is not None:
            if _RIGHT_IDENTITY.get(op) == right or (op is Op.AND and right in (ALL_ONES, -1)):
                return lhs
            if right == 0 and op in _ZERO:
                return rhs
        elif left is not None:
            if _LEFT_IDENTITY.get(op) == left or (op is Op.AND and left in (ALL_ONES, -1)):
                return rhs
            if left == 0 and op in (*_ZERO, *_LEFT_ZERO):
                return lhs
        return self.add(h.Binary(op, lhs, rhs))

    def _folded(self, node: h.Binary | h.Cast | h.Bitcast | h.Unary, *operands: h.Node) -> h.Node:
        types: list[Scalar] = []
        values: list[ScalarValue] = []
        for operand in operands:
            value = literal(operand)
            assert isinstance(operand, h.ConstantNode)
            assert value is not None
            type = constant_type(operand.value)
            assert is_scalar(type)
            types.append(type)
            values.append(value)
        result = operations.result_type(node, dict(zip(operands, types, strict=True)))
        if not isinstance(result, (h.Bool, h.Integer)):
            return self.add(node)
        found = operations.kernel(node, types, result)(*values)
        if isinstance(result, h.Bool):
            return self.constant(h.BoolConstant(bool(found)))
        return self.integer(result, int(found))

    def unary(self, op: h.UnaryOp, operand: h.Node) -> h.Node:
        """`op operand`."""
        node = h.Unary(op, operand)
        return self.add(node) if literal(operand) is None else self._folded(node, operand)

    def select(self, condition: h.Node, if_true: h.Node, if_false: h.Node) -> h.Node:
        """One of two values."""
        if if_true is if_false:
            return if_true
        known = literal(condition)
        if known is not None:
            return if_true if known else if_false
        return self.add(h.Select(condition, if_true, if_false))

    def cast(self, type: h.Type, operand: h.Node) -> h.Node:
        """A conversion."""
        node = h.Cast(type, operand)
        return self.add(node) if literal(operand) is None else self._folded(node, operand)

    def bitcast(self, type: h.Type, operand: h.Node) -> h.Node:
        """The same bits."""
        node = h.Bitcast(type, operand)
        return self.add(node) if literal(operand) is None else self._folded(node, operand)

    def intrinsic(self, name: str, type: h.Type, *arguments: h.Node) -> h.Node:
        """A builtin function."""
        return self.add(h.Intrinsic(name, type, list(arguments)))

    def both(self, first: h.Node, second: h.Node) -> h.Node:
        """Logical and, or the bits of both."""
        return self.binary(Op.AND, first, second)

    def either(self, first: h.Node, second: h.Node) -> h.Node:
        """Logical or, or the bits of either."""
        return self.binary(Op.OR, first, second)

    def is_not_zero(self, word: h.Node) -> h.Node:
        """Whether a u32 is not zero."""
        return self.binary(Op.NOT_EQUAL, word, self.u32(0))

    def position(self, number: int) -> h.PositionIndex:
        """A fixed position."""
        return h.PositionIndex(self.integer(U64, number))

    def truth(self, value: bool) -> h.Node:
        """A bool constant."""
        return self.constant(h.BoolConstant(value))
