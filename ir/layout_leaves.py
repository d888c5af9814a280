"""The numbers of a host-shareable type in memory: for each path of member names, a strided view of its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..base.errors import InputError
from ..base.named_tuples import NamedTuple
from .layout_numbers import NumberType
from .layout_sizes import member_offsets, size_of, stride_of
from .types import F16, F32, I32, U32, Array, Atomic, Matrix, Scalar, Struct, Type, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

AnyArray: TypeAlias = "NDArray[Any]"

_NUMBERS = {
    scalar: NumberType(str(scalar), np.dtype(base))
    for scalar, base in ((I32, "<i4"), (U32, "<u4"), (F32, "<f4"), (F16, "<f2"))
}


class LayoutPath(NamedTuple):
    """A path of member names and the strided view of the values at its end: one value for each position of `shape`.

    `strides` and `offset` are bytes. `depths` has, for each name of the path, how many dimensions stand before it.
    """

    path: tuple[str, ...] = ()
    depths: tuple[int, ...] = ()
    offset: int = 0
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    def member(self, name: str, offset: int) -> LayoutPath:
        """The path to a member, `offset` bytes further on."""
        depths = (*self.depths, len(self.shape))
        return LayoutPath((*self.path, name), depths, self.offset + offset, self.shape, self.strides)

    def nested(self, extent: int, stride: int) -> LayoutPath:
        """The path with one more dimension."""
        return LayoutPath(self.path, self.depths, self.offset, (*self.shape, extent), (*self.strides, stride))

    def text(self, root: str, index: tuple[int, ...] = ()) -> str:
        """The WGSL expression for an element, with the given part of its index: `cloud.points[3].position[0]`."""
        text, used = root, 0
        for name, depth in zip(self.path, self.depths, strict=True):
            text += "".join(f"[{number}]" for number in index[used:depth]) + f".{name}"
            used = depth
        return text + "".join(f"[{number}]" for number in index[used:])


class Leaf(NamedTuple):
    """All numbers at the end of one path, and their type."""

    place: LayoutPath
    type: NumberType

    def view(self, data: bytearray | memoryview) -> AnyArray:
        """The numbers in a buffer, in place."""
        place = self.place
        if 0 in place.shape:  # an empty array at the end of a buffer may begin past the end
            return np.zeros(place.shape, self.type.dtype)
        return np.ndarray(place.shape, self.type.dtype, data, place.offset, place.strides)


START = LayoutPath()


def leaves(type: Type, count: int, at: LayoutPath = START) -> Iterator[Leaf]:
    """The leaves of a type; a runtime-sized array has `count` elements. Raises InputError."""
    match type:
        case Struct(members=members):
            for member, offset in zip(members, member_offsets(type), strict=True):
                yield from leaves(member.type, count, at.member(member.name, offset))
        case Array(element=element) if holds_structures(element):
            yield from leaves(element, count, at.nested(extent_of(type, count), stride_of(type)))
        case _:
            yield leaf(type, count, at)


def leaf(type: Type, count: int, at: LayoutPath = START) -> Leaf:
    """The only leaf of a type that contains no structure. Raises InputError."""
    match type:
        case Scalar():
            return Leaf(at, number_type(type))
        case Atomic(element=element):
            return leaf(element, count, at)
        case Vector(width=width, element=element):
            return leaf(element, count, at.nested(width, size_of(element)))
        case Matrix(columns=columns):
            return leaf(type.column, count, at.nested(columns, stride_of(type)))
        case Array(element=element):
            return leaf(element, count, at.nested(extent_of(type, count), stride_of(type)))
        case _:
            raise InputError(f"{type} is not host-shareable")


def holds_structures(type: Type) -> bool:
    """Whether the type is a structure, or an array of structures."""
    return isinstance(type, Struct) or (isinstance(type, Array) and holds_structures(type.element))


def extent_of(type: Array, count: int) -> int:
    """The length of an array; `count` for a runtime-sized one. Raises InputError if it is override-sized."""
    extent = count if type.count is None else type.count
    if not isinstance(extent, int):
        raise InputError(f"the element count of {type} is not known")
    return extent


def number_type(scalar: Scalar) -> NumberType:
    """The type of numbers for a scalar type. Raises InputError for bool, which is not host-shareable."""
    if scalar not in _NUMBERS:
        raise InputError(f"{scalar} is not host-shareable")
    return _NUMBERS[scalar]
