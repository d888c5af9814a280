"""Conversion of arrays to and from the bytes of bindings, by variable name, in WGSL's memory layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from .arguments import mapping_of
from .base.errors import InputError
from .ir import layout
from .ir.hints import unknown_name
from .ir.layout_numbers import shown
from .ir.layout_packing import check_size, pack, unpack
from .ir.types import BindingPoint, Sampler, Struct, Texture
from .reflection import BindingInfo
from .textures import pack_texture, unpack_texture


def pack_buffers(bindings: Sequence[BindingInfo], buffers: Mapping[str, Any]) -> dict[BindingPoint, bytearray]:
    """Fresh bytes for each binding; samplers, which no device has, need none.

    Raises InputError that says which name, type, shape or size was expected.
    """
    names = [info.name for info in bindings]
    for name in mapping_of(buffers, "buffers", names):
        if name not in names:
            raise InputError(unknown_name(f"the entry point uses no buffer named {shown(name)}", name, names))
    bound = [info for info in bindings if not isinstance(info.type, Sampler)]
    missing = [f"{info.name}: {info.type}" for info in bound if info.name not in buffers]
    if missing:
        raise InputError(f"no array is given for {', '.join(missing)}")
    return {info.point: pack_buffer(info, buffers[info.name]) for info in bound}


def pack_buffer(info: BindingInfo, given: object) -> bytearray:
    """Fresh bytes for a binding. Raises InputError that says which name, type, shape or size was expected."""
    if isinstance(info.type, Texture):
        try:
            return pack_texture(info.type, given)
        except InputError as error:
            raise InputError(f"{info.name}: {error}") from error
    packed = _copied(info, given) if _is_bytes(given) else pack(info.type, given, name=info.name)
    if len(packed) < info.minimum_size:
        raise InputError(
            f"{info.name}: {info.type} needs at least {info.minimum_size} bytes, but {len(packed)} are given"
        )
    return packed


def _is_bytes(value: object) -> TypeGuard[bytes | bytearray | memoryview]:
    """Whether the value holds bytes in the memory layout, rather than numbers."""
    return isinstance(value, (bytes, bytearray, memoryview))


def _copied(info: BindingInfo, given: bytes | bytearray | memoryview) -> bytearray:
    """Bytes as they are. WebGPU binds storage buffers of whole words, and writes whole words to any buffer."""
    size = given.nbytes if isinstance(given, memoryview) else len(given)
    if size >= info.minimum_size and size != layout.whole_words(size):
        raise InputError(f"{info.name}: {size} bytes are given, but a binding's size is a multiple of 4")
    check_size(info.type, size, info.name)
    return bytearray(given)


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
        return np.frombuffer(data, given.dtype, count=given.size).reshape(given.shape).copy()
    array = unpack(info.type, data)
    if given is None:
        return array
    is_plain = array.dtype.names is None
    if given.size == array.size and (is_plain or given.ndim >= array.ndim):
        return array.reshape(given.shape)
    return array


def _has_exact_layout(info: BindingInfo, original: npt.NDArray[Any], size: int) -> bool:
    count = layout.runtime_count(info.type, size)
    is_open_structure = info.size is None and isinstance(info.type, Struct)
    dtype = info.dtype_with(count) if is_open_structure else info.dtype
    has_dtype = dtype is not None and original.dtype == _innermost(dtype)
    return has_dtype and original.nbytes == layout.sized(info.type, count)


def _innermost(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the elements of arrays of arrays: an array in numpy has no other."""
    return dtype if dtype.subdtype is None else _innermost(dtype.base)
