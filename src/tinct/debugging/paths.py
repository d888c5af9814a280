"""Paths to memory, such as `out[3].pos.x`: their text is parsed and resolved to a part of a variable."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..base.errors import InputError
from ..ir import layout
from ..ir.core.interp_frame import Memory
from ..ir.types import Array, Matrix, Struct, Type, Vector

_STEP = re.compile(r"\s*(?:\[\s*(\d+)[iu]?\s*\]|\.\s*([^\W\d]\w*))")
_NAME = re.compile(r"\s*([^\W\d]\w*)")
_COMPONENTS = {name: index for names in ("xyzw", "rgba") for index, name in enumerate(names)}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a variable: `offset` in bytes, and its type."""

    name: str
    type: Type
    offset: int = 0


def parse_path(text: str) -> tuple[str, list[str | int]] | None:
    """The name of the variable, and the indices and names of members; None if the text is no path."""
    head = _NAME.match(text)
    if head is None:
        return None
    steps: list[str | int] = []
    position = head.end()
    while found := _STEP.match(text, position):
        steps.append(found[2] if found[1] is None else int(found[1]))
        position = found.end()
    return (head[1], steps) if not text[position:].strip() else None


def resolve(name: str, type: Type, steps: list[str | int], memory: Memory) -> Part:
    """The part that a path designates in a variable of that type, whose bytes are `memory`. Raises InputError."""
    part = Part(name, type)
    for step in steps:
        part = _member(part, step) if isinstance(step, str) else _element(part, step, len(memory))
    return part


def _member(whole: Part, name: str) -> Part:
    match whole.type:
        case Struct(members=members):
            for index, member in enumerate(members):
                if member.name == name:
                    offset = layout.member_offsets(whole.type)[index]
                    return Part(f"{whole.name}.{name}", member.type, whole.offset + offset)
            known = ", ".join(member.name for member in members)
            raise InputError(f"'{whole.name}' has no member '{name}', only {known}")
        case Vector(width=width, element=element) if _COMPONENTS.get(name, width) < width:
            offset = _COMPONENTS[name] * layout.size_of(element)
            return Part(f"{whole.name}.{name}", element, whole.offset + offset)
        case _:
            raise InputError(f"'{whole.name}' is of type {whole.type}, which has no member '{name}'")


def _element(whole: Part, index: int, size: int) -> Part:
    match whole.type:
        case Array(element=element, count=count):
            stride = layout.stride_of(whole.type)
            number = count if isinstance(count, int) else (size - whole.offset) // stride
        case Matrix(columns=number):
            element, stride = whole.type.column, layout.stride_of(whole.type)
        case Vector(width=number, element=element):
            stride = layout.size_of(element)
        case _:
            raise InputError(f"'{whole.name}' is of type {whole.type}, which has no elements")
    if index >= number:
        raise InputError(f"'{whole.name}' has {number} elements: there is no [{index}]")
    return Part(f"{whole.name}[{index}]", element, whole.offset + index * stride)
