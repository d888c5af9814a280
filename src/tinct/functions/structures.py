"""The interface of functions beyond `PartInfo`: the fields of products and sums, and what dynamic constants are for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ir.hercules import dynamic
from ..ir.hercules import nodes as h
from ..ir.hercules.layout import align_of, field_align, field_offsets, field_size, size_of, sum_as_product
from ..ir.hercules.text import dynamic_text, type_text
from .dtypes import dtype_if_known, extents, field_names, innermost


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field of a product, or the tag or a variant of a sum. `offset` and `size` are expressions for bytes."""

    name: str
    type: str
    offset: str
    size: str
    align: int


@dataclass(frozen=True, slots=True)
class StructureInfo:
    """A product or a sum in memory. `dtype` is None where its size depends on dynamic constants."""

    type: str
    size: str
    align: int
    fields: tuple[FieldInfo, ...]
    dtype: np.dtype[Any] | None


@dataclass(frozen=True, slots=True)
class DynamicConstantInfo:
    """A dynamic constant, and the places of arrays of arguments whose extents depend on it, each with the extent.

    A constant without such places must be given.
    """

    name: str
    extents: tuple[tuple[str, str], ...]


def structures_of(function: h.Function) -> tuple[StructureInfo, ...]:
    """The products and sums in parameters and results, each once, inner ones after those that they are in."""
    result = function.return_type
    results = result.fields if isinstance(result, h.Product) else (result,)
    found = dict.fromkeys(it for type in (*function.parameter_types, *results) for it in _structures(type))
    return tuple(_structure(it, function.dynamic_constants) for it in found)


def constants_of(function: h.Function) -> tuple[DynamicConstantInfo, ...]:
    """The dynamic constants, in order."""
    pairs = zip(function.parameter_names, function.parameter_types, strict=True)
    places = [it for name, type in pairs for it in _places(name, type, 0)]
    names = function.dynamic_constants
    return tuple(
        DynamicConstantInfo(
            name,
            tuple((place, dynamic_text(it, names)) for place, it in places if index in dynamic.parameters(it)),
        )
        for index, name in enumerate(names)
    )


def _structures(type: h.Type) -> Iterator[h.Product | h.Summation]:
    inner = innermost(type)
    if isinstance(inner, (h.Product, h.Summation)):
        yield inner
        for part in _parts(inner):
            yield from _structures(part)


def _parts(type: h.Product | h.Summation) -> Sequence[h.Type]:
    return (sum_as_product(type) if isinstance(type, h.Summation) else type).fields


def _structure(type: h.Product | h.Summation, names: list[str]) -> StructureInfo:
    whole = sum_as_product(type) if isinstance(type, h.Summation) else type
    fields = zip(field_names(type), whole.fields, field_offsets(whole), strict=True)
    return StructureInfo(
        type_text(type, names),
        dynamic_text(size_of(type), names),
        align_of(type),
        tuple(
            FieldInfo(
                name,
                type_text(field, names),
                dynamic_text(offset, names),
                dynamic_text(field_size(field), names),
                field_align(field),
            )
            for name, field, offset in fields
        ),
        dtype_if_known(type),
    )


def _places(name: str, type: h.Type, axis: int) -> Iterator[tuple[str, h.DynamicConstant]]:
    """Each array in a value of the type, as `axis 1 of a`, with its extent."""
    for extent in extents(type):
        yield f"axis {axis} of {name}", extent
        axis += 1
    inner = innermost(type)
    if isinstance(inner, (h.Product, h.Summation)):
        for field, part in zip(field_names(inner), _parts(inner), strict=True):
            yield from _places(f"{name}.{field}", part, axis)
