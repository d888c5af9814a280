"""The numpy dtypes of host-shareable types.

`numpy_dtype(type)` has the exact layout, for filling buffers in place: structures have fields at their offsets. numpy
has no gaps inside a field, so an `array<vec3f, N>` is a field of shape (N, 4) and a `mat3x3f` one of shape (3, 4), the
fourth number being padding. The dtype of a runtime-sized array is that of one element.

`value_dtype(type)` has no padding: `layout_packing.unpack` returns it.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np

from ..base.errors import InputError
from .layout_leaves import extent_of, leaf, number_type
from .layout_numbers import shown
from .layout_sizes import Counts, align_of, member_offsets, resolve_counts, runtime_array, size_of, sized
from .types import Array, Atomic, Matrix, Scalar, Struct, Type, Vector

DType: TypeAlias = np.dtype[Any]

PADDED_ROW = 4
"""The stride, in numbers, of vectors of three that are elements or columns."""


def numpy_dtype(type: Type, counts: Counts = None, *, elements: int | None = None) -> DType:
    """The dtype with the exact layout of a host-shareable type; of one element for a runtime-sized array.

    A structure that ends in a runtime-sized array needs its number of `elements`. Raises InputError, also for a dtype
    of 2 GiB or more, which numpy does not have.
    """
    try:
        return _dtype(resolve_counts(type, counts), elements)
    except (ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"numpy has no type for {_named(type, elements)}: {error}") from error


def _named(type: Type, elements: int | None) -> str:
    return str(type) if elements is None else f"{type} with {shown(elements)} elements"


def _dtype(type: Type, elements: int | None = None) -> DType:
    match type:
        case Scalar():
            return number_type(type).dtype
        case Atomic(element=element):
            return number_type(element).dtype
        case Vector(width=width, element=element):
            return np.dtype((number_type(element).dtype, (width,)))
        case Matrix(columns=columns):
            return np.dtype((_padded(type.column), (columns,)))
        case Array(element=element, count=None) if elements is None:
            return _padded(element)
        case Array(element=element):
            return np.dtype((_padded(element), (extent_of(type, elements or 0),)))
        case Struct():
            return _struct_dtype(type, elements)
        case _:
            raise InputError(f"{type} is not host-shareable")


def _padded(type: Type) -> DType:
    """The dtype of an element, as wide as its stride."""
    if isinstance(type, Vector) and size_of(type) % align_of(type):
        return np.dtype((number_type(type.element).dtype, (PADDED_ROW,)))
    return _dtype(type)


def _struct_dtype(type: Struct, elements: int | None) -> DType:
    if runtime_array(type) is not None and elements is None:
        raise InputError(f"{type} ends in a runtime-sized array: its number of elements is needed")
    fields: dict[str, Any] = {
        "names": [member.name for member in type.members],
        "formats": [_dtype(member.type, elements) for member in type.members],
        "offsets": list(member_offsets(type)),
        "itemsize": sized(type, elements or 0),
    }
    dtype: DType = np.dtype(cast(Any, fields))
    return dtype


def value_dtype(type: Type, count: int) -> DType:
    """The dtype of a value without padding; a runtime-sized array has `count` elements."""
    match type:
        case Struct(members=members):
            return np.dtype([(member.name, value_dtype(member.type, count)) for member in members])
        case Array(element=element):
            return np.dtype((value_dtype(element, count), (extent_of(type, count),)))
        case _:
            place, number = leaf(type, count)
            return np.dtype((number.dtype, place.shape))
