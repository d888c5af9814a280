"""Conversion of arrays to and from the bytes of bindings, by variable name, in WGSL's memory layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

import numpy as np

from .arguments import count_of, mapping_of
from .backend.cpu.aligned import aligned_copy, aligned_zeros
from .base.errors import InputError
from .ir import layout
from .ir.hints import unknown_name
from .ir.layout_numbers import shown
from .ir.layout_packing import check_size, checked_size, pack, unpack
from .ir.samplers import Sampler, pack_sampler
from .ir.textures import is_written
from .ir.types import BindingPoint, Struct, Texture
from .ir.types import Buffer as RawBuffer
from .ir.types import Sampler as SamplerType
from .reflection import BindingInfo
from .textures import TextureMemory, pack_texture, shape_text, unpack_texture

if TYPE_CHECKING:
    import numpy.typing as npt

Packed: TypeAlias = bytearray | memoryview
"""The bytes of a binding. A view that can only be read is the memory of the caller's array."""


def pack_buffers(
    bindings: Sequence[BindingInfo], buffers: Mapping[str, Any], textures: TextureMemory = "wide"
) -> dict[BindingPoint, bytearray]:
    """Fresh bytes for each binding, of values by name.

    Raises InputError that says which name, type, shape or size was expected.
    """
    return {info.point: bytearray(pack_binding(info, buffers[info.name], textures)) for info in bindings}


def bytes_to_run_on(
    bindings: Sequence[BindingInfo], buffers: Mapping[str, Any], textures: TextureMemory = "wide"
) -> dict[BindingPoint, Packed]:
    """The bytes of each binding for a dispatch: where a binding is only read, those of an array itself, if it has them
    in order, and else fresh ones. Raises what `pack_buffers` raises.
    """
    return {info.point: _bytes_to_run_on(info, buffers[info.name], textures) for info in bindings}


def _bytes_to_run_on(info: BindingInfo, given: object, textures: TextureMemory) -> Packed:
    packed = pack_binding(info, given, textures)
    is_lent = isinstance(packed, memoryview) and packed.readonly
    return aligned_copy(packed).data if is_lent and info.is_written else packed


def values_by_name(
    bindings: Sequence[BindingInfo], given: Mapping[Any, Any], *, is_extra_ignored: bool = False
) -> dict[str, Any]:
    """The values of bindings by name, given by name or by `(group, binding)`.

    Raises InputError for a key of no binding, unless `is_extra_ignored`, for a binding that is given twice, and for one
    without a value.
    """
    names = [info.name for info in bindings]
    by_key: dict[object, str] = {key: info.name for info in bindings for key in (info.name, (info.group, info.binding))}
    values: dict[str, Any] = {}
    for key, value in mapping_of(given, "buffers", names).items():
        name = by_key.get(key)
        if name is None and is_extra_ignored:
            continue
        if name is None:
            raise InputError(unknown_name(f"the entry point uses no buffer {_key_text(key)}", key, names))
        if name in values:
            raise InputError(f"{name} is given twice, by its name and by {_key_text(key)}")
        values[name] = value
    missing = [info for info in bindings if info.name not in values]
    if missing:
        what = "sampler" if all(isinstance(info.type, SamplerType) for info in missing) else "array"
        listed = ", ".join(f"{info.name}: {info.type}" for info in missing)
        raise InputError(f"no {what} is given for {listed}")
    return values


def _key_text(key: object) -> str:
    return f"at {shown(cast('object', key))}" if isinstance(key, tuple) else f"named {shown(key)}"


def pack_binding(info: BindingInfo, given: object, textures: TextureMemory = "wide") -> Packed:
    """The bytes of a value for a binding: those of an array itself, if it has them in order. None, or (None, elements),
    stands for zeros in one that is written. Raises InputError.
    """
    if info.is_written and is_output(given):
        return zeros(info, count_of_output(given))
    if isinstance(info.type, SamplerType):
        return _packed_sampler(info.name, info.type, given)
    if isinstance(given, Sampler):
        raise InputError(f"{info.name}: {info.type} takes an array, not a sampler")
    if isinstance(info.type, Texture):
        try:
            return pack_texture(info.type, given, textures)
        except InputError as error:
            raise InputError(f"{info.name}: {error}") from error
    packed: Packed
    if isinstance(info.type, RawBuffer):
        packed = _raw(info, given)
    else:
        packed = _copied(info, given) if _is_bytes(given) else pack(info.type, given, name=info.name)
    check_minimum(info, len(packed))
    return packed


def _packed_sampler(name: str, type: SamplerType, given: object) -> bytearray:
    if not isinstance(given, Sampler):
        raise InputError(f"{name}: {type} takes a tinct.Sampler, not {shown(given)}")
    if type.comparison != (given.compare is not None):
        fault = "needs a sampler with compare" if type.comparison else "takes no sampler with compare"
        raise InputError(f"{name}: {type} {fault}, not {given}")
    return bytearray(pack_sampler(given))


def check_minimum(info: BindingInfo, size: int) -> None:
    """Raise InputError for fewer bytes than a binding must have."""
    if size < info.minimum_size:
        raise InputError(f"{info.name}: {info.type} needs at least {info.minimum_size} bytes, but {size} are given")


Output: TypeAlias = "tuple[None, int | tuple[int, ...]] | None"
"""A value for a binding that needs no upload: None, or for a runtime-sized array (None, elements), or for a texture
(None, shape).
"""


def is_output(given: object) -> TypeGuard[Output]:
    """Whether a value stands for zeros."""
    return given is None or (
        isinstance(given, tuple) and len(cast("tuple[object, ...]", given)) == 2 and given[0] is None
    )


def count_of_output(given: Output) -> int | tuple[int, ...] | None:
    """The number of elements, or the shape of a texture, that was given with None."""
    return None if given is None else given[1]


def zeros(info: BindingInfo, count: int | tuple[int, ...] | None) -> Packed:
    """Zeros for a binding: `count` is the number of elements of a runtime-sized array, or the shape of a texture."""
    if not isinstance(info.type, Texture):
        return aligned_zeros(zeros_size(info, count)).data
    if not is_written(info.type):
        raise InputError(f"{info.name}: {info.type} is not written, so it takes an array")
    if not isinstance(count, tuple):
        raise InputError(f"{info.name}: {info.type} takes a shape {shape_text(info.type)}, not {shown(count)}")
    return pack_binding(info, np.zeros([count_of(it, f"each extent of {info.name}") for it in count], info.dtype))


def zeros_size(info: BindingInfo, count: object) -> int:
    """The bytes of a buffer with this number of elements in its runtime-sized array. Raises InputError."""
    if info.size is not None:
        if count is not None:
            raise InputError(f"{info.name}: {info.type} has a fixed size, and takes no number of elements")
        return layout.whole_words(info.size)
    if count is None:
        raise InputError(f"{info.name}: {info.type} needs a number of elements, as in (None, 1000)")
    elements = count_of(count, f"the number of elements of {info.name}")
    if elements < 0:
        raise InputError(f"{info.name} cannot have {elements} elements")
    if isinstance(info.type, RawBuffer):
        return layout.whole_words(elements)
    return checked_size(info.type, elements, info.name)


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


def _raw(info: BindingInfo, given: object) -> bytearray:
    """The bytes of a buffer that shaders view as several types: those of an array of numbers, as they are."""
    if isinstance(given, np.ndarray):
        array = cast("npt.NDArray[Any]", given)
        raw = bytearray(array.tobytes()) if array.dtype.kind in "biuf" else None
    else:
        raw = bytearray(given) if _is_bytes(given) else None
    if raw is None:
        raise InputError(f"{info.name}: {info.type} takes bytes, or an array of numbers, whose bytes it has")
    if info.size is not None and len(raw) != info.size:
        raise InputError(f"{info.name}: {info.type} takes {info.size} bytes, not {len(raw)}")
    if info.size is None and len(raw) != layout.whole_words(len(raw)):
        raise InputError(f"{info.name}: {len(raw)} bytes are given, but a binding's size is a multiple of 4")
    return raw + bytes(layout.whole_words(len(raw)) - len(raw))


def unpack_buffers(
    bindings: Sequence[BindingInfo], packed: Mapping[BindingPoint, Packed], given: Mapping[str, Any]
) -> dict[str, npt.NDArray[Any]]:
    """The writable buffers as arrays, which may be the packed bytes themselves.

    An array that was given in the exact memory layout (`BindingInfo.dtype`) comes back in it, padding included; others
    come back without padding, in the shape in which they were given where that is possible.
    """
    written = [it for it in bindings if it.is_written]
    return {it.name: unpack_binding(it, packed[it.point], given[it.name], may_keep=True) for it in written}


def unpack_binding(info: BindingInfo, data: Packed, original: object, *, may_keep: bool = False) -> npt.NDArray[Any]:
    """The bytes of a binding as an array, in the form of what was given; see `unpack_buffers`. The array has memory of
    its own, unless it `may_keep` the data.
    """
    if isinstance(info.type, Texture):
        return unpack_texture(info.type, data, original)
    given = cast("npt.NDArray[Any]", original) if isinstance(original, np.ndarray) else None
    if isinstance(info.type, RawBuffer):
        form = np.dtype(np.uint8) if given is None else given.dtype
        array = np.frombuffer(data, form, count=(info.size or len(data)) // form.itemsize).copy()
        return array if given is None else array.reshape(given.shape)
    if given is not None and _has_exact_layout(info, given, len(data)):
        array = np.frombuffer(data, given.dtype, count=given.size).reshape(given.shape)
        return array if may_keep else array.copy()
    array = unpack(info.type, data, may_keep=may_keep)
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


def buffer_length(array: npt.NDArray[Any]) -> int:
    """How many elements a buffer for an array of numbers has: whole words, and a vector of four for an empty one, since
    WebGPU has no empty buffers.
    """
    in_word = max(1, 4 // array.dtype.itemsize)
    return -(-array.size // in_word) * in_word or 4


def buffer_elements(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The elements in a row, with zeros behind them where a buffer has more."""
    missing = buffer_length(array) - array.size
    flat = array.reshape(-1)
    return np.concatenate([flat, np.zeros(missing, array.dtype)]) if missing else flat
