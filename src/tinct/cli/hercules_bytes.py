"""Values of Hercules IR as the bytes that machine code works on, and back."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import assert_never

from ..backend.cpu.layout import ArrayLayout, Layout, ProductLayout, ScalarLayout, dynamic_size
from ..ir.hercules import dynamic
from ..ir.hercules import nodes as h
from ..ir.hercules.storage import Value, Variant
from ..ir.hercules.types import is_scalar

_CODES = {8: "bB", 16: "hH", 32: "iI", 64: "qQ"}
_FLOATS = {16: "e", 32: "f", 64: "d"}


def size_of(layout: Layout) -> int:
    """The size in bytes of a layout whose extents are literals."""
    return dynamic.evaluate(dynamic_size(layout), ())


def pack(type: h.Type, layout: Layout, value: Value, memory: bytearray, at: int = 0) -> None:
    """Put a value of a type into memory; a sum is the product of its tag and its variants (see `lower_sums`)."""
    match type, layout:
        case h.Summation(variants=variants), ProductLayout(fields=(_, *fields), offsets=(_, *offsets)):
            assert isinstance(value, Variant)
            struct.pack_into("<I", memory, at, value.index)
            number = value.index
            pack(variants[number], fields[number], value.value, memory, at + offsets[number])
        case h.Product(fields=types), ProductLayout(fields=fields, offsets=offsets):
            for part, inner, offset, item in zip(types, fields, offsets, _list(value), strict=True):
                pack(part, inner, item, memory, at + offset)
        case h.Array(element=element), ArrayLayout(element=ScalarLayout() as inner):
            items = _list(value)
            struct.pack_into(f"<{len(items)}{_code(element)}", memory, at, *items)
        case h.Array(element=element), ArrayLayout(element=inner, stride=stride):
            for number, item in enumerate(_list(value)):
                pack(element, inner, item, memory, at + number * stride)
        case _:
            struct.pack_into(f"<{_code(type)}", memory, at, value)


def unpack(type: h.Type, layout: Layout, memory: bytearray, at: int = 0) -> Value:
    """The inverse of `pack`."""
    match type, layout:
        case h.Summation(variants=variants), ProductLayout(fields=(_, *fields), offsets=(_, *offsets)):
            (number,) = struct.unpack_from("<I", memory, at)
            return Variant(number, unpack(variants[number], fields[number], memory, at + offsets[number]))
        case h.Product(fields=types), ProductLayout(fields=fields, offsets=offsets):
            parts = zip(types, fields, offsets, strict=True)
            return [unpack(part, inner, memory, at + offset) for part, inner, offset in parts]
        case h.Array(element=element), ArrayLayout(element=ScalarLayout(), extent=extent):
            return [*struct.unpack_from(f"<{dynamic.evaluate(extent, ())}{_code(element)}", memory, at)]
        case h.Array(element=element), ArrayLayout(element=inner, stride=stride, extent=extent):
            count = dynamic.evaluate(extent, ())
            return [unpack(element, inner, memory, at + number * stride) for number in range(count)]
        case _:
            (value,) = struct.unpack_from(f"<{_code(type)}", memory, at)
            assert isinstance(value, (bool, int, float))
            return value


def _code(type: h.Type) -> str:
    assert is_scalar(type)
    match type:
        case h.Bool():
            return "?"
        case h.Integer(bits=bits, signed=signed):
            return _CODES[bits][0 if signed else 1]
        case h.Float(bits=bits):
            return _FLOATS[bits]
        case _:
            assert_never(type)


def _list(value: Value) -> Sequence[Value]:
    assert isinstance(value, list)
    return value
