"""Scalars in memory: their offsets in a type, and the WGSL expressions for them (`particles[7].pos.x`)."""

from __future__ import annotations

from functools import cache

from ... import layout
from ...constants import RawValue
from ...types import Array, Atomic, Matrix, Scalar, Struct, Type, Vector


@cache
def scalar_offsets(type: Type) -> tuple[int, ...]:
    """The offset of each scalar of a type of fixed size, in order. Atomics are left out."""
    match type:
        case Scalar():
            return (0,)
        case Vector(width=width, element=element):
            return tuple(index * layout.size_of(element) for index in range(width))
        case Matrix(columns=columns):
            return _repeated(type.column, layout.stride_of(type), columns)
        case Array(count=int() as count, element=element):
            return _repeated(element, layout.stride_of(type), count)
        case Struct(members=members):
            pairs = zip(members, layout.member_offsets(type), strict=True)
            return tuple(start + inner for member, start in pairs for inner in scalar_offsets(member.type))
        case _:
            return ()


def _repeated(part: Type, stride: int, count: int) -> tuple[int, ...]:
    return tuple(index * stride + inner for index in range(count) for inner in scalar_offsets(part))


def scalar_of(value: RawValue, number: int) -> RawValue:
    """The scalar with that index in a value, in the order of `scalar_offsets`."""
    return _scalars(value)[number]


def _scalars(value: RawValue) -> list[RawValue]:
    if isinstance(value, (bool, int, float)):
        return [value]
    return [scalar for part in value for scalar in _scalars(part)]


def path_to(name: str, type: Type, offset: int, target: Type | None = None) -> str:
    """The WGSL expression for the value at an offset in a variable: a part of type `target`, or else a scalar."""
    while not (isinstance(type, (Scalar, Atomic)) or (type is target and offset == 0)):
        match type:
            case Struct(members=members):
                starts = layout.member_offsets(type)
                number = max(it for it, start in enumerate(starts) if start <= offset)
                name, type, offset = f"{name}.{members[number].name}", members[number].type, offset - starts[number]
            case Vector(element=element):
                number = offset // layout.size_of(element)
                return f"{name}.{'xyzw'[number]}"
            case Matrix():
                number, offset = divmod(offset, layout.stride_of(type))
                name, type = f"{name}[{number}]", type.column
            case Array(element=element):
                number, offset = divmod(offset, layout.stride_of(type))
                name, type = f"{name}[{number}]", element
            case _:
                return name
    return name


def value_text(value: RawValue) -> str:
    """The text of a scalar in messages."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def texel_text(value: RawValue) -> str:
    """The text of a texel in messages."""
    parts = _scalars(value)
    return value_text(parts[0]) if len(parts) == 1 else f"({', '.join(map(value_text, parts))})"
