"""Operations on scalars as core IR. Those of Hercules IR have WGSL's meaning, so most are the same operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import Builder, constant, u32
from ...ir.core.values import Value
from ...ir.hercules import nodes as h
from ...ir.hercules.types import F16, U16
from ...ir.ops import BinaryOp, UnaryOp
from .types import scalar_type

_BINARY: dict[h.BinaryOp, BinaryOp] = {
    h.BinaryOp.ADD: BinaryOp.ADD,
    h.BinaryOp.SUB: BinaryOp.SUBTRACT,
    h.BinaryOp.MUL: BinaryOp.MULTIPLY,
    h.BinaryOp.DIV: BinaryOp.DIVIDE,
    h.BinaryOp.REM: BinaryOp.REMAINDER,
    h.BinaryOp.LESS: BinaryOp.LESS,
    h.BinaryOp.LESS_EQUAL: BinaryOp.LESS_EQUAL,
    h.BinaryOp.GREATER: BinaryOp.GREATER,
    h.BinaryOp.GREATER_EQUAL: BinaryOp.GREATER_EQUAL,
    h.BinaryOp.EQUAL: BinaryOp.EQUAL,
    h.BinaryOp.NOT_EQUAL: BinaryOp.NOT_EQUAL,
    h.BinaryOp.AND: BinaryOp.AND,
    h.BinaryOp.OR: BinaryOp.OR,
    h.BinaryOp.XOR: BinaryOp.XOR,
    h.BinaryOp.SHIFT_LEFT: BinaryOp.SHIFT_LEFT,
    h.BinaryOp.SHIFT_RIGHT: BinaryOp.SHIFT_RIGHT,
}
_SHIFTS = (h.BinaryOp.SHIFT_LEFT, h.BinaryOp.SHIFT_RIGHT)


class Scalars:
    """Builds operations on scalars at a builder's insertion point."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def emit(self, node: h.AnyScalarNode, operands: Sequence[Value], types: Sequence[h.Type]) -> Value:
        """The value of an operation on operands of these types."""
        match node:
            case h.Unary(op):
                return self._unary(op, operands[0])
            case h.Binary(op):
                return self._binary(op, operands[0], operands[1])
            case h.Select():
                condition, if_true, if_false = operands
                return self._builder.builtin_call("select", [if_false, if_true, condition])
            case h.Cast(type):
                return self._cast(operands[0], scalar_type(type, node.span))
            case h.Bitcast(type):
                return self._bitcast(operands[0], types[0], type)
            case h.Intrinsic(function):
                return self._builder.builtin_call(function, operands)
            case _:
                assert_never(node)

    def from_bits(self, bits: Value, type: h.Type) -> Value:
        """The float with these bits, a u32; those of an f16 are its low half."""
        if type != F16:
            return self._builder.builtin_call("bitcast", [bits], template_arguments=[w.F32])
        halves = self._builder.builtin_call("bitcast", [bits], template_arguments=[w.vector(2, w.F16)])
        return self._builder.access(halves, [u32(0)])

    def _unary(self, op: h.UnaryOp, operand: Value) -> Value:
        if op is h.UnaryOp.NEGATE:
            if operand.type is w.U32:
                return self._builder.binary(BinaryOp.SUBTRACT, u32(0), operand)
            return self._builder.unary(UnaryOp.NEGATE, operand)
        return self._builder.unary(UnaryOp.NOT if operand.type is w.BOOL else UnaryOp.COMPLEMENT, operand)

    def _binary(self, op: h.BinaryOp, lhs: Value, rhs: Value) -> Value:
        if op is h.BinaryOp.XOR and lhs.type is w.BOOL:
            op = h.BinaryOp.NOT_EQUAL
        if op in _SHIFTS:
            rhs = self._count(rhs)
        return self._builder.binary(_BINARY[op], lhs, rhs)

    def _count(self, count: Value) -> Value:
        """The number of places to shift, below the width of a word."""
        if isinstance(count, c.Constant):
            assert isinstance(count.value.value, int)
            return u32(count.value.value % 32)
        return self._cast(count, w.U32)

    def _cast(self, operand: Value, type: w.Scalar) -> Value:
        return operand if operand.type is type else self._builder.convert(type, operand)

    def _bitcast(self, operand: Value, source: h.Type, target: h.Type) -> Value:
        builder, type = self._builder, scalar_type(target)
        if source == F16 and target == U16:
            pair = builder.construct(w.vector(2, w.F16), [operand, constant(w.F16, 0.0)])
            return builder.builtin_call("bitcast", [pair], template_arguments=[w.U32])
        if source == U16 and target == F16:
            return self.from_bits(operand, target)
        if operand.type is type:
            return operand
        return builder.builtin_call("bitcast", [operand], template_arguments=[type])
