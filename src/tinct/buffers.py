"""Arrays in and out of a dispatch: by variable name, in WGSL's memory layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt

from .ir import layout
from .ir.diagnostics import InputError
from .ir.types import Array, BindingPoint, Matrix, Texture, Type, Vector
from .reflection import BindingInfo


def pack_buffers(bindings: Sequence[BindingInfo], buffers: Mapping[str, Any]) -> dict[BindingPoint, bytearray]:
    """Fresh bytes for each binding. Raises InputError that says which name, type, shape or size was expected."""
    names = [info.name for info in bindings]
    for name in buffers:
        if name not in names:
            close = get_close_matches(name, names, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; it uses {', '.join(names) or 'none'}"
            raise InputError(f"the entry point uses no buffer named {name!r}{hint}")
    return {info.point: _pack(info, buffers) for info in bindings}


def _pack(info: BindingInfo, buffers: Mapping[str, Any]) -> bytearray:
    if isinstance(info.type, Texture) or info.dtype is None:
        raise InputError(f"{info.name} is a {info.type}, which cannot be bound to an array yet")
    if info.name not in buffers:
        raise InputError(f"no array is given for {info.name}: {info.type}")
    given = buffers[info.name]
    if isinstance(given, (bytes, bytearray, memoryview)):
        packed = bytearray(given)
    else:
        try:
            packed = bytearray(layout.pack(info.type, _as_list(info.type, given)))
        except InputError as error:
            raise InputError(f"{info.name}: {error}") from error
    if len(packed) < info.minimum_size:
        raise InputError(
            f"{info.name}: {info.type} needs at least {info.minimum_size} bytes, but {len(packed)} are given"
        )
    return packed


def _as_list(type: Type, given: Any) -> Any:
    """An image or a matrix for a plain array: all dimensions before those of an element become one."""
    if not isinstance(type, Array) or not isinstance(given, np.ndarray):
        return given
    inner = given.shape[max(given.ndim - _rank(type.element), 0) :]
    return given.reshape(-1, *inner) if given.ndim > len(inner) + 1 else given


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
    """The writable buffers as arrays, each in the shape it was given in where that is possible."""
    outputs: dict[str, npt.NDArray[Any]] = {}
    for info in bindings:
        if not info.is_written:
            continue
        array = layout.unpack(info.type, bytes(packed[info.point]))
        original = given[info.name]
        if isinstance(original, np.ndarray) and original.dtype == array.dtype and original.size == array.size:
            array = array.reshape(original.shape)
        outputs[info.name] = array
    return outputs
