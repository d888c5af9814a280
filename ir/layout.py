"""The layout of types in memory (WGSL, "Memory Layout"): sizes, offsets, and scalar access for interpreters.

Everything is in bytes. `counts` gives the values of override-sized array counts. A runtime-sized array has no size:
`size_of` raises TypeError; `runtime_count` says how many elements fit a buffer. A bool takes 4 bytes, 0 or 1 (no
host-shareable type has one, but private and workgroup memory do).

`reader` and `writer` make functions that load and store raw values, to be called many times; `read` and `write` do it
once. `layout_numpy` and `layout_packing` handle buffers as numpy arrays.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

from .constants import RawValue
from .conversions import elements
from .layout_sizes import (
    Counts,
    align_of,
    member_offsets,
    minimum_size,
    offset_of,
    resolve_counts,
    runtime_array,
    runtime_count,
    size_of,
    sized,
    stride_of,
    whole_words,
)
from .types import BOOL, F16, F32, I32, U32, Array, Atomic, Matrix, Scalar, Struct, Type, Vector

__all__ = [
    "Buffer",
    "Counts",
    "Reader",
    "Writer",
    "align_of",
    "member_offsets",
    "minimum_size",
    "offset_of",
    "read",
    "reader",
    "resolve_counts",
    "runtime_array",
    "runtime_count",
    "size_of",
    "sized",
    "stride_of",
    "whole_words",
    "write",
    "writer",
]

Buffer: TypeAlias = bytes | bytearray | memoryview
Reader: TypeAlias = Callable[[Buffer, int], RawValue]
Writer: TypeAlias = Callable[[bytearray | memoryview, int, RawValue], None]

_CODES = {BOOL: "I", I32: "i", U32: "I", F32: "f", F16: "e"}


def read(type: Type, buffer: Buffer, offset: int, counts: Counts = None) -> RawValue:
    """The raw value of a type at an offset."""
    return reader(resolve_counts(type, counts))(buffer, offset)


def write(type: Type, buffer: bytearray | memoryview, offset: int, value: RawValue, counts: Counts = None) -> None:
    """Stores a raw value at an offset; padding bytes keep what they hold."""
    writer(resolve_counts(type, counts))(buffer, offset, value)


@cache
def reader(type: Type) -> Reader:
    """The function that does `read` for a type whose size is fixed."""
    match type:
        case Scalar():
            return _scalar_reader(type)
        case Atomic(element=element):
            return _scalar_reader(element)
        case Vector(width=width, element=element):
            return _row_reader(element, width)
        case Array(element=Scalar() as element, count=int() as count):
            return _row_reader(element, count)
        case Matrix() | Array():
            return _element_reader(type)
        case Struct(members=members):
            parts = [
                (reader(member.type), offset) for member, offset in zip(members, member_offsets(type), strict=True)
            ]
            return lambda buffer, offset: tuple([load(buffer, offset + start) for load, start in parts])
        case _:
            raise TypeError(f"{type} is not stored in memory")


def _scalar_reader(scalar: Scalar) -> Reader:
    unpack_from: Callable[[Buffer, int], tuple[RawValue, ...]] = struct.Struct(f"<{_CODES[scalar]}").unpack_from
    if scalar is BOOL:
        return lambda buffer, offset: unpack_from(buffer, offset)[0] != 0
    return lambda buffer, offset: unpack_from(buffer, offset)[0]


def _row_reader(scalar: Scalar, count: int) -> Reader:
    """A reader of adjacent scalars."""
    unpack_from = struct.Struct(f"<{count}{_CODES[scalar]}").unpack_from
    if scalar is BOOL:
        return lambda buffer, offset: tuple([word != 0 for word in unpack_from(buffer, offset)])
    return unpack_from


def _element_reader(type: Matrix | Array) -> Reader:
    load, starts = reader(_element(type)), _starts(type)
    return lambda buffer, offset: tuple([load(buffer, offset + start) for start in starts])


def _element(type: Matrix | Array) -> Type:
    return type.column if isinstance(type, Matrix) else type.element


def _starts(type: Matrix | Array) -> range:
    """The offsets of the columns or elements."""
    stride = stride_of(type)
    count = type.columns if isinstance(type, Matrix) else type.count
    if not isinstance(count, int):
        raise TypeError(f"{type} has no fixed size")
    return range(0, stride * count, stride)


@cache
def writer(type: Type) -> Writer:
    """The function that does `write` for a type whose size is fixed."""
    match type:
        case Scalar():
            return _scalar_writer(type)
        case Atomic(element=element):
            return _scalar_writer(element)
        case Vector(width=width, element=element):
            return _row_writer(element, width)
        case Array(element=Scalar() as element, count=int() as count):
            return _row_writer(element, count)
        case Matrix() | Array():
            return _parts_writer([(writer(_element(type)), start) for start in _starts(type)])
        case Struct(members=members):
            pairs = zip(members, member_offsets(type), strict=True)
            return _parts_writer([(writer(member.type), start) for member, start in pairs])
        case _:
            raise TypeError(f"{type} is not stored in memory")


def _scalar_writer(scalar: Scalar) -> Writer:
    return struct.Struct(f"<{_CODES[scalar]}").pack_into


def _row_writer(scalar: Scalar, count: int) -> Writer:
    pack_into = struct.Struct(f"<{count}{_CODES[scalar]}").pack_into
    return lambda buffer, offset, value: pack_into(buffer, offset, *elements(value))


def _parts_writer(parts: Sequence[tuple[Writer, int]]) -> Writer:
    def store(buffer: bytearray | memoryview, offset: int, value: RawValue) -> None:
        for (store_part, start), part in zip(parts, elements(value), strict=True):
            store_part(buffer, offset + start, part)

    return store
