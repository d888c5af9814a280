"""Replaces builtin functions that a target lacks by others.

Each replacement gives the same value for all arguments as the function itself, floats of the exact kind included.

For WGSL engines that lack a function: wgpu and the devices here lack none. The pipeline `portable` runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...base.errors import InputError
from ...ir.core import nodes
from ...ir.core.builder import Builder, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp, UnaryOp
from ...ir.types import I32, U32, Scalar, Type, Vector, scalar_of, with_scalar
from .rewriting import is_integer, rewrite, splat

TARGETS = {
    "packed_dot": ("dot4U8Packed", "dot4I8Packed"),
    "bits": ("extractBits", "insertBits", "firstLeadingBit", "firstTrailingBit", "countTrailingZeros"),
    "saturate": ("saturate",),
    "sign": ("sign",),
}
"""Features that a target may lack, and the functions that need them."""


@dataclass(frozen=True)
class Polyfill:
    """Replaces what `without` names: features of `TARGETS` and functions, joined by `+`; all by default."""

    without: str = "+".join(TARGETS)

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "polyfill"

    def run(self, module: nodes.Module) -> bool:
        """Whether a call was replaced. Raises InputError for an unknown name."""
        names = [name for part in self.without.split("+") for name in TARGETS.get(part.strip(), (part.strip(),))]
        unknown = [name for name in names if name not in _POLYFILLS]
        if unknown:
            known = ", ".join(sorted({*TARGETS, *_POLYFILLS}))
            raise InputError(f"no polyfill for {unknown[0]!r}; there are: {known}")

        def rule(node: nodes.Instruction, builder: Builder) -> Value | None:
            if not isinstance(node, nodes.BuiltinCall) or node.function not in names:
                return None
            return _POLYFILLS[node.function](builder, node.arguments)

        return rewrite(module, (rule,))


def _unsigned(type: Type) -> Type:
    assert isinstance(type, (Scalar, Vector))
    return with_scalar(type, U32)


def _like(type: Type, builder: Builder, value: Value) -> Value:
    """A scalar in all components of a type."""
    return builder.construct(type, [value]) if isinstance(type, Vector) else value


def _cast(builder: Builder, type: Type, value: Value) -> Value:
    return value if value.type is type else builder.convert(type, value)


def _saturate(builder: Builder, arguments: Sequence[Value]) -> Value | None:
    (value,) = arguments
    return builder.builtin_call("clamp", [value, splat(value.type, 0.0), splat(value.type, 1.0)])


def _sign(builder: Builder, arguments: Sequence[Value]) -> Value | None:
    """Of integers."""
    (value,) = arguments
    if not is_integer(value.type):
        return None
    return builder.builtin_call("clamp", [value, splat(value.type, -1), splat(value.type, 1)])


def _extract_bits(builder: Builder, arguments: Sequence[Value]) -> Value | None:
    """Shift the field to the left end, then to the right one: an arithmetic shift extends the sign."""
    value, offset, count = arguments
    type, counts = value.type, _unsigned(value.type)
    first = builder.builtin_call("min", [offset, u32(32)])
    width = builder.builtin_call("min", [count, builder.binary(BinaryOp.SUBTRACT, u32(32), first)])
    left = builder.binary(BinaryOp.SUBTRACT, builder.binary(BinaryOp.SUBTRACT, u32(32), first), width)
    right = builder.binary(BinaryOp.SUBTRACT, u32(32), width)
    moved = builder.binary(BinaryOp.SHIFT_LEFT, value, _like(counts, builder, left))
    found = builder.binary(BinaryOp.SHIFT_RIGHT, moved, _like(counts, builder, right))
    is_empty = builder.binary(BinaryOp.EQUAL, width, u32(0))
    return builder.builtin_call("select", [found, splat(type, 0), is_empty])


def _insert_bits(builder: Builder, arguments: Sequence[Value]) -> Value | None:
    value, inserted, offset, count = arguments
    type, counts = value.type, _unsigned(value.type)
    first = builder.builtin_call("min", [offset, u32(32)])
    width = builder.builtin_call("min", [count, builder.binary(BinaryOp.SUBTRACT, u32(32), first)])
    ones = builder.binary(BinaryOp.SHIFT_RIGHT, u32(0xFFFFFFFF), builder.binary(BinaryOp.SUBTRACT, u32(32), width))
    mask = _cast(builder, type, _like(counts, builder, builder.binary(BinaryOp.SHIFT_LEFT, ones, first)))
    moved = builder.binary(BinaryOp.SHIFT_LEFT, inserted, _like(counts, builder, first))
    kept = builder.binary(BinaryOp.AND, value, builder.unary(UnaryOp.COMPLEMENT, mask))
    found = builder.binary(BinaryOp.OR, kept, builder.binary(BinaryOp.AND, moved, mask))
    is_empty = builder.binary(BinaryOp.EQUAL, width, u32(0))
    return builder.builtin_call("select", [found, value, is_empty])


def _count_trailing_zeros(builder: Builder, arguments: Sequence[Value]) -> Value | None:
    """The bits below the lowest one, counted."""
    (value,) = arguments
    below = builder.binary(BinaryOp.SUBTRACT, value, splat(value.type, 1))
    zeros = builder.binary(BinaryOp.AND, builder.unary(UnaryOp.COMPLEMENT, value), below)
    return builder.builtin_call("countOneBits", [zeros])


def _first_trailing_bit(builder: Builder, arguments: Sequence[Value]) -> Value | None:
    (value,) = arguments
    zeros = _count_trailing_zeros(builder, arguments)
    assert zeros is not None
    is_zero = builder.binary(BinaryOp.EQUAL, value, splat(value.type, 0))
    return builder.builtin_call("select", [zeros, splat(value.type, _all_ones(value.type)), is_zero])


def _first_leading_bit(builder: Builder, arguments: Sequence[Value]) -> Value | None:
    """31 less the leading zeros; of a negative number, those of its complement. -1 where there is no bit."""
    (value,) = arguments
    if scalar_of(value.type) is I32:
        sign = builder.binary(BinaryOp.SHIFT_RIGHT, value, splat(_unsigned(value.type), 31))
        value = builder.binary(BinaryOp.XOR, value, sign)
    zeros = builder.builtin_call("countLeadingZeros", [value])
    return builder.binary(BinaryOp.SUBTRACT, splat(value.type, 31), zeros)


def _all_ones(type: Type) -> int:
    return -1 if scalar_of(type) is I32 else 0xFFFFFFFF


def _dot_unsigned(builder: Builder, arguments: Sequence[Value]) -> Value | None:
    products = [
        builder.binary(BinaryOp.MULTIPLY, *(_byte(builder, value, index) for value in arguments)) for index in range(4)
    ]
    return _sum(builder, products)


def _dot_signed(builder: Builder, arguments: Sequence[Value]) -> Value | None:
    signed = [builder.builtin_call("bitcast", [value], template_arguments=[I32]) for value in arguments]
    products = [
        builder.binary(BinaryOp.MULTIPLY, *(_signed_byte(builder, value, index) for value in signed))
        for index in range(4)
    ]
    return _sum(builder, products)


def _byte(builder: Builder, value: Value, index: int) -> Value:
    shifted = builder.binary(BinaryOp.SHIFT_RIGHT, value, u32(8 * index))
    return builder.binary(BinaryOp.AND, shifted, u32(0xFF))


def _signed_byte(builder: Builder, value: Value, index: int) -> Value:
    moved = builder.binary(BinaryOp.SHIFT_LEFT, value, u32(24 - 8 * index))
    return builder.binary(BinaryOp.SHIFT_RIGHT, moved, u32(24))


def _sum(builder: Builder, values: Sequence[Value]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = builder.binary(BinaryOp.ADD, total, value)
    return total


_POLYFILLS: dict[str, Callable[[Builder, Sequence[Value]], Value | None]] = {
    "countTrailingZeros": _count_trailing_zeros,
    "dot4I8Packed": _dot_signed,
    "dot4U8Packed": _dot_unsigned,
    "extractBits": _extract_bits,
    "firstLeadingBit": _first_leading_bit,
    "firstTrailingBit": _first_trailing_bit,
    "insertBits": _insert_bits,
    "saturate": _saturate,
    "sign": _sign,
}
