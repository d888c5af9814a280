"""The bytes of values in buffers: parameters and results of functions, on every device.

Little endian, and each part at the next multiple of its alignment, as in C:

- A scalar takes its width and is aligned to it; a bool takes a byte.
- An array is packed: an element at each multiple of the element's size, rounded up to its alignment.
- A product has its fields in order. A field that is a bool or an integer narrower than 32 bits, or an array of such,
  starts at a multiple of 4 bytes and takes a multiple of 4, since a GPU has only words there. A device gets such a
  scalar extended to 32 bits; of what it gives back, only the bytes of the narrow type count.
- A sum is the product of its tag, a u32 with the number of the variant that it holds, and all variants in order.

A buffer has a multiple of 4 bytes. Sizes and offsets are dynamic constants, literals unless an extent is not a
literal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from ..layout_sizes import round_up
from . import dynamic
from .nodes import (
    Array,
    Bool,
    Control,
    DynamicBinary,
    DynamicConstant,
    DynamicLiteral,
    DynamicOp,
    Float,
    Integer,
    Product,
    Summation,
    Type,
)
from .types import U32

WORD: Final = 4
"""Bytes of the least part of a product or of a buffer."""
TAG: Final = U32
"""The type of the number of a sum's variant."""


def sum_as_product(type: Summation) -> Product:
    """The product as which a sum lies in memory."""
    return Product((TAG, *type.variants))


def align_of(type: Type) -> int:
    """The alignment in bytes."""
    match type:
        case Bool():
            return 1
        case Integer(bits=bits) | Float(bits=bits):
            return bits // 8
        case Array(element=element):
            return align_of(element)
        case Product(fields=fields):
            return max(map(field_align, fields), default=1)
        case Summation():
            return align_of(sum_as_product(type))
        case Control():
            raise TypeError("control is in no memory")
        case _:
            assert_never(type)


def size_of(type: Type) -> DynamicConstant:
    """The size in bytes."""
    match type:
        case Bool() | Integer() | Float():
            return dynamic.literal(align_of(type))
        case Array(extent=extent):
            return dynamic.mul(extent, stride_of(type))
        case Product(fields=fields):
            return rounded(_ends(fields)[-1] if fields else dynamic.ZERO, align_of(type))
        case Summation():
            return size_of(sum_as_product(type))
        case Control():
            raise TypeError("control is in no memory")
        case _:
            assert_never(type)


def stride_of(type: Array) -> DynamicConstant:
    """The bytes from one element to the next."""
    return rounded(size_of(type.element), align_of(type.element))


def field_offsets(type: Product) -> tuple[DynamicConstant, ...]:
    """The offset of each field in bytes."""
    ends = [dynamic.ZERO, *_ends(type.fields)[:-1]]
    return tuple(rounded(end, field_align(field)) for end, field in zip(ends, type.fields, strict=False))


def buffer_size(type: Type) -> DynamicConstant:
    """The size in bytes of a buffer for a value of the type."""
    return rounded(size_of(type), WORD)


def _ends(fields: Sequence[Type]) -> list[DynamicConstant]:
    """Where each field ends."""
    ends: list[DynamicConstant] = []
    end: DynamicConstant = dynamic.ZERO
    for field in fields:
        end = dynamic.add(rounded(end, field_align(field)), field_size(field))
        ends.append(end)
    return ends


def field_size(type: Type) -> DynamicConstant:
    """The bytes that a field of this type takes in a product."""
    return rounded(size_of(type), WORD) if _is_narrow(type) else size_of(type)


def field_align(type: Type) -> int:
    """The alignment of a field of this type in a product."""
    return max(align_of(type), WORD) if _is_narrow(type) else align_of(type)


def _is_narrow(type: Type) -> bool:
    """Whether it is a bool or an integer of less than a word, or an array of such."""
    while isinstance(type, Array):
        type = type.element
    return isinstance(type, Bool) or (isinstance(type, Integer) and type.bits < 8 * WORD)


def rounded(size: DynamicConstant, alignment: int) -> DynamicConstant:
    """The next multiple of an alignment; the size itself if it is one by its form."""
    if isinstance(size, DynamicLiteral):
        return dynamic.literal(round_up(alignment, size.value))
    if alignment == 1 or _is_multiple(size, alignment):
        return size
    unit = dynamic.literal(alignment)
    return dynamic.mul(dynamic.div(dynamic.add(size, dynamic.literal(alignment - 1)), unit), unit)


def _is_multiple(size: DynamicConstant, alignment: int) -> bool:
    """Whether a size is a multiple of an alignment by its form, whatever the dynamic constants are."""
    match size:
        case DynamicLiteral(value=value):
            return value % alignment == 0
        case DynamicBinary(op=DynamicOp.MUL, lhs=lhs, rhs=rhs):
            return _is_multiple(lhs, alignment) or _is_multiple(rhs, alignment)
        case DynamicBinary(op=DynamicOp.ADD, lhs=lhs, rhs=rhs):
            return _is_multiple(lhs, alignment) and _is_multiple(rhs, alignment)
        case _:
            return False
