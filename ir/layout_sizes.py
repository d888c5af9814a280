"""Alignment, size, stride and offsets of types (WGSL, "Alignment and Size", "Structure Member Layout")."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, TypeAlias

from .scalars import bit_width
from .types import BOOL, Array, Atomic, Buffer, Matrix, OverrideCount, Scalar, Struct, Type, Vector, array, buffer

Counts: TypeAlias = Mapping[OverrideCount, int] | None
"""The values of override-sized array counts."""


_ROW: Final = 16


def resolve_counts(type: Type, counts: Counts) -> Type:
    """The type with an override-sized count replaced by its value; WGSL allows one on the outermost array only."""
    if isinstance(type, Array) and isinstance(type.count, OverrideCount) and counts is not None:
        return array(type.element, counts[type.count])
    if isinstance(type, Buffer) and isinstance(type.size, OverrideCount) and counts is not None:
        return buffer(counts[type.size])
    return type


def round_up(alignment: int, size: int) -> int:
    """The least multiple of an alignment that is not less than a size."""
    return -(-size // alignment) * alignment


@cache
def align_of(type: Type) -> int:
    """The alignment of a type. Raises TypeError for a type that memory cannot hold."""
    match type:
        case Scalar():
            return _scalar_size(type)
        case Atomic(element=element):
            return _scalar_size(element)
        case Vector(width=width, element=element):
            return _scalar_size(element) * (2 if width == 2 else 4)
        case Matrix():
            return align_of(type.column)
        case Array(element=element):
            return align_of(element)
        case Struct():
            return max((_member_align(type, index) for index in range(len(type.members))), default=1)
        case _:
            raise TypeError(f"{type} has no layout")


def _scalar_size(scalar: Scalar) -> int:
    return 4 if scalar is BOOL else bit_width(scalar) // 8


def _member_align(type: Struct, index: int) -> int:
    member = type.members[index]
    return member.align if member.align is not None else align_of(member.type)


def size_of(type: Type, counts: Counts = None) -> int:
    """The size of a type. Raises TypeError if it is not fixed: the type is or ends in a runtime-sized array."""
    return _size_of(resolve_counts(type, counts))


@cache
def _size_of(type: Type) -> int:
    match type:
        case Scalar():
            return _scalar_size(type)
        case Atomic(element=element):
            return _scalar_size(element)
        case Vector(width=width, element=element):
            return width * _scalar_size(element)
        case Matrix(columns=columns):
            return columns * stride_of(type)
        case Array(count=int() as count):
            return count * stride_of(type)
        case Struct():
            return _struct_size(type)
        case Buffer(size=int() as size):
            return size
        case _:
            raise TypeError(f"{type} has no fixed size")


def _struct_size(type: Struct) -> int:
    if not type.members:
        return 0
    last = type.members[-1]
    size = last.size if last.size is not None else size_of(last.type)
    return round_up(align_of(type), member_offsets(type)[-1] + size)


@cache
def stride_of(type: Array | Matrix) -> int:
    """The distance from one element, or column, to the next."""
    element = type.column if isinstance(type, Matrix) else type.element
    return round_up(align_of(element), size_of(element))


@cache
def member_offsets(type: Struct) -> tuple[int, ...]:
    """The offset of each member."""
    offsets = list[int]()
    end = 0
    for index, member in enumerate(type.members):
        offsets.append(round_up(_member_align(type, index), end))
        if index + 1 < len(type.members):  # the last member may have no fixed size
            end = offsets[-1] + (member.size if member.size is not None else size_of(member.type))
    return tuple(offsets)


def offset_of(type: Type, index: int) -> int:
    """The offset of an element, column, component or member."""
    match type:
        case Struct():
            return member_offsets(type)[index]
        case Array() | Matrix():
            return index * stride_of(type)
        case Vector(element=element):
            return index * _scalar_size(element)
        case _:
            raise TypeError(f"{type} has no elements")


def is_in_rows(type: Type) -> bool:
    """Whether arrays and structures in a type begin at multiples of 16 bytes, as uniform buffers demand where an engine
    lacks the extension `uniform_buffer_standard_layout` (WGSL, "Address Space Layout Constraints").
    """
    match type:
        case Array(element=element):
            return stride_of(type) % _ROW == 0 and is_in_rows(element)
        case Struct(members=members):
            starts = member_offsets(type)
            for index, member in enumerate(members):
                if isinstance(member.type, (Array, Struct)) and starts[index] % _ROW:
                    return False
                end = starts[index] + round_up(_ROW, size_of(member.type))
                if isinstance(member.type, Struct) and any(it < end for it in starts[index + 1 :]):
                    return False
            return all(is_in_rows(it.type) for it in members)
        case _:
            return True


def runtime_array(type: Type) -> tuple[int, Array] | None:
    """The offset and type of the runtime-sized array that a type is or ends in; None when its size is fixed."""
    match type:
        case Array(count=None):
            return 0, type
        case Struct(members=(*_, last)) if isinstance(last.type, Array) and last.type.count is None:
            return member_offsets(type)[-1], last.type
        case _:
            return None


def runtime_count(type: Type, byte_size: int) -> int:
    """How many elements the runtime-sized array of a type has in a binding of that size.

    (WGSL, "Buffer Binding Determines Runtime-Sized Array Element Count".) 0 for a type without one.
    """
    found = runtime_array(type)
    if found is None:
        return 0
    offset, tail = found
    return max(0, byte_size - offset) // stride_of(tail)


def sized(type: Type, count: int) -> int:
    """The size of a type; where it is or ends in a runtime-sized array, of the smallest binding for `count` elements.

    Such a binding has a multiple of 4 bytes (WebGPU, "GPUBindGroupDescriptor"), and at least `minimum_size`.
    """
    found = runtime_array(type)
    if found is None:
        return size_of(type)
    offset, tail = found
    size = whole_words(offset + count * stride_of(tail))
    return max(size, minimum_size(type)) if count else size


def minimum_size(type: Type) -> int:
    """The least size of a binding of the type: a runtime-sized array has one element at least."""
    found = runtime_array(type)
    if found is None:
        return size_of(type)
    offset, tail = found
    return round_up(align_of(type), offset + stride_of(tail))


def whole_words(size: int) -> int:
    """A size rounded up to one that a binding may have."""
    return round_up(4, size)
