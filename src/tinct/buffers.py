"""Arrays in and out of a dispatch: by variable name, in WGSL's memory layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from .hints import unknown_name
from .ir import layout
from .ir.diagnostics import InputError
from .ir.types import Array, BindingPoint, Matrix, Struct, Texture, Type, Vector
from .reflection import BindingInfo
from .textures import pack_texture, unpack_texture


def pack_buffers(bindings: Sequence[BindingInfo], buffers: Mapping[str, Any]) -> dict[BindingPoint, bytearray]:
    """Fresh bytes for each binding; samplers, which no device has, need none.

    Raises InputError that says which name, type, shape or size was expected.
    """
    names = [info.name for info in bindings]
    for name in buffers:
        if name not in names:
            raise InputError(unknown_name(f"the entry point uses no buffer named {name!r}", name, names))
    bound = [info for info in bindings if info.dtype is not None]
    missing = [f"{info.name}: {info.type}" for info in bound if info.name not in buffers]
    if missing:
        raise InputError(f"no array is given for {', '.join(missing)}")
    return {info.point: _pack(info, buffers[info.name]) for info in bound}


def _pack(info: BindingInfo, given: Any) -> bytearray:
    if isinstance(info.type, Texture):
        try:
            return pack_texture(info.type, given)
        except InputError as error:
            raise InputError(f"{info.name}: {error}") from error
    if isinstance(given, (bytes, bytearray, memoryview)):
        packed = bytearray(cast("bytes", given))
    else:
        _check_members(info.name, info.type, given)
        try:
            packed = bytearray(layout.pack(info.type, _as_list(info.type, given)))
        except InputError as error:
            raise InputError(f"{info.name}: {error}") from error
        except (TypeError, ValueError, OverflowError, LookupError) as error:
            raise InputError(f"{info.name}: {info.type} cannot be made of what is given: {error}") from error
    if len(packed) < info.minimum_size:
        raise InputError(
            f"{info.name}: {info.type} needs at least {info.minimum_size} bytes, but {len(packed)} are given"
        )
    return packed


def _check_members(place: str, type: Type, given: Any) -> None:
    """Mappings must have just the members of their structures. Raises InputError."""
    if isinstance(type, Struct) and isinstance(given, Mapping):
        values = cast("Mapping[str, Any]", given)
        members = {member.name: member.type for member in type.members}
        for name in values:
            if name not in members:
                raise InputError(unknown_name(f"{place}: {type} has no member {name!r}", str(name), members))
        for name, member in members.items():
            if name not in values:
                raise InputError(f"{place}: there is no value for the member {name!r} of {type}")
            _check_members(f"{place}.{name}", member, values[name])
    elif isinstance(type, Array) and isinstance(given, (list, tuple)):
        for number, part in enumerate(cast("Sequence[Any]", given)):
            _check_members(f"{place}[{number}]", type.element, part)


def _as_list(type: Type, given: Any) -> Any:
    """An image or a matrix for a plain array: all dimensions before those of an element become one."""
    if not isinstance(type, Array) or not isinstance(given, np.ndarray):
        return given
    array = cast("npt.NDArray[Any]", given)
    inner = array.shape[max(array.ndim - _rank(type.element), 0) :]
    return array.reshape(-1, *inner) if array.ndim > len(inner) + 1 else array


def _rank(type: Type) -> int:
    """The dimensions of a value as an array; a structure is one item."""
    match type:
        case Vector():
            return 1
        case Matrix():
            return 2
        case Array(element=element):
            return 1 + _rank(element)
        case _:
            return 0


def unpack_buffers(
    bindings: Sequence[BindingInfo], packed: Mapping[BindingPoint, bytearray], given: Mapping[str, Any]
) -> dict[str, npt.NDArray[Any]]:
    """The writable buffers as arrays.

    An array that was given in the exact memory layout (`BindingInfo.dtype`) comes back in it, padding included; others
    come back without padding, in the shape in which they were given where that is possible.
    """
    return {info.name: _unpack(info, packed[info.point], given[info.name]) for info in bindings if info.is_written}


def _unpack(info: BindingInfo, data: bytearray, original: object) -> npt.NDArray[Any]:
    if isinstance(info.type, Texture):
        return unpack_texture(info.type, data, original)
    given = cast("npt.NDArray[Any]", original) if isinstance(original, np.ndarray) else None
    if given is not None and _has_exact_layout(info, given, len(data)):
        return np.frombuffer(data, given.dtype).reshape(given.shape).copy()
    array = layout.unpack(info.type, bytes(data))
    if given is None:
        return array
    is_plain = array.dtype.names is None
    if given.size == array.size and (is_plain or given.ndim >= array.ndim):
        return array.reshape(given.shape)
    return array


def _has_exact_layout(info: BindingInfo, original: npt.NDArray[Any], size: int) -> bool:
    dtype = info.dtype_with(layout.runtime_count(info.type, size))
    return original.nbytes == size and original.dtype == _innermost(dtype)


def _innermost(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the elements of arrays of arrays: an array in numpy has no other."""
    return dtype if dtype.subdtype is None else _innermost(dtype.base)
