"""Values as text, and their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import islice

import numpy as np

from ..ir.constants import RawValue
from ..ir.core.interp_frame import Memory
from ..ir.samplers import Sampler as SamplerValue
from ..ir.samplers import read_sampler
from ..ir.textures import read_extent
from ..ir.types import F16, F32, Array, Atomic, Matrix, Sampler, Scalar, Struct, Texture, Type, Vector

SHOWN_ELEMENTS = 8
"""Number of elements of an array that a text shows; "…" stands for the others."""


def value_text(type: Type, raw: object) -> str:
    """A value as WGSL writes it, with floats as short as they can be, and long arrays cut off."""
    match type:
        case Atomic(element=element):
            return value_text(element, raw)
        case Scalar():
            return _scalar_text(type, raw)
        case Vector(element=element):
            return f"({', '.join(_scalar_text(element, part) for part in _parts(raw))})"
        case Matrix(columns=columns, rows=rows):
            parts = (value_text(type.column, part) for part in _parts(raw))
            return f"mat{columns}x{rows}({', '.join(parts)})"
        case Array(element=element):
            return _array_text(element, _parts(raw))
        case Struct(members=members):
            pairs = zip(members, _parts(raw), strict=True)
            return f"{type}({', '.join(f'{it.name}={value_text(it.type, part)}' for it, part in pairs)})"
        case _:
            return f"a {type}"


def handle_text(type: Texture | Sampler, memory: Memory) -> str:
    """A texture with its size in texels, or a sampler with the fields that differ from their defaults."""
    if isinstance(type, Sampler):
        found, default = read_sampler(memory), SamplerValue()
        pairs = ((it.name, getattr(found, it.name)) for it in fields(found))
        return f"{type}({', '.join(f'{name}={value}' for name, value in pairs if value != getattr(default, name))})"
    extent = read_extent(memory)
    sizes = [extent.width, extent.height, extent.depth][: {"1d": 1, "2d": 2}.get(type.dimension, 3)]
    return f"{type} of {' x '.join(map(str, sizes))} texels"


def _array_text(element: Type, parts: Sequence[RawValue]) -> str:
    shown = [value_text(element, part) for part in islice(parts, SHOWN_ELEMENTS)]
    more = ["…"] if len(parts) > SHOWN_ELEMENTS else []
    return f"[{', '.join([*shown, *more])}]"


def _scalar_text(type: Scalar, raw: object) -> str:
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, float) and type is F32:
        return str(np.float32(raw))
    if isinstance(raw, float) and type is F16:
        return str(np.float16(raw))
    return str(raw)


def _parts(raw: object) -> Sequence[RawValue]:
    assert isinstance(raw, Sequence)
    return raw  # pyright: ignore[reportUnknownVariableType]


def parts_of(type: Type) -> Iterator[tuple[str, int]]:
    """What stands after the name of a value for each of its parts, and the index of the part."""
    match type:
        case Vector(width=width):
            yield from ((f".{'xyzw'[index]}", index) for index in range(width))
        case Matrix(columns=columns):
            yield from ((f"[{index}]", index) for index in range(columns))
        case Array(count=int() as count):
            yield from ((f"[{index}]", index) for index in range(count))
        case Struct(members=members):
            yield from ((f".{member.name}", index) for index, member in enumerate(members))
        case _:
            return
