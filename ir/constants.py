"""Values of types, for constants and interpreters.

A *raw value* is a bool, an int (i32, u32 in range, or an AbstractInt), a float (every f16, f32 and AbstractFloat value
is exactly a Python float), or, for a composite, a sequence of raw values: components, columns, elements or members in
order. A run of equal elements can be a `Repeated`, so that a zero value takes constant memory however large its type.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import TypeAlias, overload

from ..base.records import dataclass
from .types import Array, Atomic, Matrix, Scalar, ScalarKind, Struct, Type, Vector, element_type


class Repeated(Sequence["RawValue"]):
    """A sequence of `times` times the same raw value, in constant memory."""

    __slots__ = ("item", "times")

    def __init__(self, item: RawValue, times: int) -> None:
        self.item = item
        self.times = times

    def __len__(self) -> int:
        return self.times

    @overload
    def __getitem__(self, index: int) -> RawValue: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[RawValue]: ...
    def __getitem__(self, index: int | slice) -> RawValue | Sequence[RawValue]:
        if isinstance(index, slice):
            return Repeated(self.item, len(range(*index.indices(self.times))))
        if not -self.times <= index < self.times:
            raise IndexError(index)
        return self.item

    def __iter__(self) -> Iterator[RawValue]:
        return repeat(self.item, self.times)

    def __repr__(self) -> str:
        return f"Repeated({self.item!r}, {self.times})"


RawValue: TypeAlias = bool | int | float | Sequence["RawValue"]


@dataclass(frozen=True, slots=True, eq=False)
class ConstantValue:
    """A raw value with its type. Two are equal if type and bits are: 0.0 differs from -0.0, and all NaNs are equal."""

    type: Type
    value: RawValue

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConstantValue):
            return NotImplemented
        return self.type is other.type and same_bits(self.value, other.value)

    def __hash__(self) -> int:
        value = self.value
        return hash((id(self.type), value if isinstance(value, (int, float)) and value == value else None))

    def element(self, index: int, type: Type) -> ConstantValue:
        """The element, component, column or member at `index`, of the given type. Raises IndexError."""
        assert not isinstance(self.value, (bool, int, float))
        return ConstantValue(type, self.value[index])


def same_bits(left: RawValue, right: RawValue) -> bool:
    """Whether two raw values of one type are the same bit for bit (all NaNs count as equal)."""
    if isinstance(left, float) and isinstance(right, float):
        return struct.pack("<d", left) == struct.pack("<d", right) or (left != left and right != right)
    if isinstance(left, (bool, int, float)) or isinstance(right, (bool, int, float)):
        return type(left) is type(right) and left == right
    if isinstance(left, Repeated) and isinstance(right, Repeated):
        return left.times == right.times and (left.times == 0 or same_bits(left.item, right.item))
    return len(left) == len(right) and all(map(same_bits, left, right))


def zero(type: Type) -> RawValue:
    """The zero value of a type (WGSL, "Zero Value"). Raises TypeError for a type without one."""
    match type:
        case Scalar(kind=ScalarKind.BOOL):
            return False
        case Scalar():
            return 0 if type.is_integer else 0.0
        case Vector(width=width, element=element):
            return Repeated(zero(element), width)
        case Matrix(columns=columns):
            return Repeated(zero(type.column), columns)
        case Array(element=element, count=int() as count):
            return Repeated(zero(element), count)
        case Struct(members=members):
            return tuple(zero(member.type) for member in members)
        case Atomic(element=element):
            return zero(element)
        case _:
            raise TypeError(f"no zero value of type {type}")


def element(constant: ConstantValue, index: int) -> ConstantValue:
    """The part of a composite constant at an index that is in range."""
    type = element_type(constant.type, index)
    assert type is not None
    assert not isinstance(constant.value, (bool, int, float))
    return ConstantValue(type, constant.value[index])


def zero_constant(type: Type) -> ConstantValue:
    """The zero value as a constant."""
    return ConstantValue(type, zero(type))
