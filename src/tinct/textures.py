"""Conversion of arrays to and from the bytes of textures.

An array has the shape (width,), (height, width), (depth, height, width) or (layers, height, width), after it the
samples of a multisampled texture, and at last the channels; a single channel needs no dimension. A cube's layers are
its faces. A list of arrays is one for each mip level.

A storage texture takes and returns the numbers that its format stores, channels in the order of the format's name:
uint8 for rgba8unorm, float16 for rg16float, one packed uint32 for rgb10a2uint. For a sampled texture the array chooses
the format: integers for `i32` and `u32`; for `f32`, floats or normalised integers of 8 or 16 bits. Channels that are
not given are 0, alpha 1. `ir.layout_numbers` has the rule by which numbers of other types are converted.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np

from .base.errors import InputError
from .ir.layout_numbers import NumberType, as_given_array, is_array, is_row, store
from .ir.texels import ChannelKind, TexelFormat
from .ir.textures import (
    HEADER_BYTES,
    MOST_LEVELS,
    TextureExtent,
    format_in,
    format_of,
    format_of_bytes,
    is_layered,
    is_multisampled,
    level_extent,
    level_starts,
    pack_header,
    read_extent,
    whole_texels,
)
from .ir.types import Texture, TextureKind

if TYPE_CHECKING:
    import numpy.typing as npt

AnyArray: TypeAlias = "npt.NDArray[Any]"

_LETTERS = {ChannelKind.UNORM: "u", ChannelKind.UINT: "u", ChannelKind.SNORM: "i", ChannelKind.SINT: "i"}
_NORMALIZED = {"u1": 255.0, "i1": 127.0, "u2": 65535.0, "i2": 32767.0}
_CHANNELS = (1, 2, 4)


def texel_dtype(texture: Texture) -> np.dtype[Any]:
    """The type of the numbers in an array: that of a storage texture's channels, or the widest for a sampled one."""
    return _channel_dtype(format_of(texture))


def _channel_dtype(form: TexelFormat) -> np.dtype[Any]:
    if form.is_packed:
        return np.dtype("<u4")
    channel = form.channels[0]
    return np.dtype(f"<{_LETTERS.get(channel.kind, 'f')}{channel.bits // 8}")


def shape_text(texture: Texture) -> str:
    """The shape of an array, in words."""
    spatial = {"1d": "width", "2d": "height, width", "3d": "depth, height, width"}
    extents = spatial.get(texture.dimension, "layers, height, width")
    samples = ", samples" if is_multisampled(texture) else ""
    channels = channel_shape(texture)
    comma = "," if texture.dimension == "1d" and not channels else ""
    return f"({extents}{samples}{f', {channels[0]}' if channels else comma})"


def channel_shape(texture: Texture) -> tuple[int, ...]:
    """The last dimension of an array, for the channels; none for a single channel, or channels packed in one number."""
    form = format_of(texture)
    return () if form.is_packed or len(form.channels) == 1 else (len(form.channels),)


TextureMemory: TypeAlias = Literal["wide", "compact"]
"""Whether the memory of a texture that is given as bytes is bytes, too, where it can be (see `ir.textures`)."""


def pack_texture(texture: Texture, given: object, memory: TextureMemory = "wide") -> bytearray:
    """The bytes of a texture as `ir.textures` describes them. Raises InputError that says what was expected."""
    if isinstance(given, (bytes, bytearray, memoryview)):
        raise InputError(f"{texture} takes an array, since bytes do not tell its size")
    arrays = _levels(texture, given)
    in_bytes = format_of_bytes(texture)
    is_compact = memory == "compact" and in_bytes is not None and all(it.dtype == np.uint8 for it in arrays)
    form = in_bytes if is_compact and in_bytes is not None else format_of(texture)
    levels = [_texels(form, texture, level) for level in arrays]
    extent = _extent(texture, levels)
    for number, level in enumerate(levels):
        expected = level_extent(texture, extent, number)
        if level.shape[2::-1] != expected:
            sizes = " x ".join(map(str, expected))
            raise InputError(f"mip level {number} of a {texture} must have {sizes} texels")
    packed = bytearray(pack_header(texture, extent, form) + b"".join(level.tobytes() for level in levels))
    packed.extend(bytes(HEADER_BYTES + whole_texels(len(packed) - HEADER_BYTES, texture, form) - len(packed)))
    return packed


def widened(texture: Texture, data: bytes | bytearray | memoryview) -> bytes | bytearray | memoryview:
    """The bytes of a texture in its widest format, which are the given ones if they are not compact."""
    form = format_in(texture, data)
    if form is format_of(texture):
        return data
    texels = level_starts(texture, read_extent(data))[-1]
    compact = np.frombuffer(data, np.uint8, offset=HEADER_BYTES, count=texels * form.bytes)
    wide = compact.astype(np.float32) / np.float32(_NORMALIZED["u1"])
    return pack_header(texture, read_extent(data), format_of(texture)) + wide.tobytes()


def first_level_form(texture: Texture, header: bytes | bytearray | memoryview) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The dtype and the shape of a texture's first mip level as an array, from the header of its memory. A sampled
    texture has the numbers of its memory.
    """
    form, extent = format_in(texture, header), read_extent(header)
    spatial = level_extent(texture, extent, 0)[::-1][3 - _spatial(texture) :]
    samples = (extent.count,) if is_multisampled(texture) else ()
    channels = () if form.is_packed or len(form.channels) == 1 else (len(form.channels),)
    return _channel_dtype(form), (*spatial, *samples, *channels)


def unpack_texture(texture: Texture, data: bytes | bytearray | memoryview, given: object) -> AnyArray:
    """A texture's first mip level as a new array, of the shape in which it was given (see `first_level_form`)."""
    form, (dtype, shape) = format_in(texture, data), first_level_form(texture, data)
    count = prod(shape[: _spatial(texture) + is_multisampled(texture)])
    texels = np.frombuffer(data, np.uint8, count * form.words * 4, HEADER_BYTES).reshape(count, form.words * 4)
    array = texels[:, : form.bytes].copy().view(dtype)
    if not isinstance(given, np.ndarray):
        return array.reshape(shape)
    wanted = cast("AnyArray", given).shape
    return array[:, : prod(wanted) // count].reshape(wanted)


def _levels(texture: Texture, given: object) -> list[AnyArray]:
    if is_row(given) and given and all(map(is_array, given)):
        levels = [as_given_array(level, _place) for level in given]
        if len(levels) > 1 and not _has_levels(texture):
            raise InputError(f"a {texture} has one mip level, not {len(levels)}")
        return levels
    return [as_given_array(given, _place)]


def _has_levels(texture: Texture) -> bool:
    return texture.kind in (TextureKind.SAMPLED, TextureKind.DEPTH) and texture.dimension != "1d"


def _place(index: tuple[int, ...]) -> str:
    """A number of the array in messages, or the array."""
    return f"the number at {list(index)}" if index else "the array"


def _extent(texture: Texture, levels: Sequence[AnyArray]) -> TextureExtent:
    """The extent of the texture whose first level has the shape (depth, height, width, samples, channels)."""
    depth, height, width, samples, _ = levels[0].shape
    if 0 in levels[0].shape:
        raise InputError(f"a {texture} has at least one texel")
    if texture.dimension in ("cube", "cube_array"):
        has_faces = depth == 6 if texture.dimension == "cube" else depth % 6 == 0
        if not has_faces or width != height:
            raise InputError(f"a {texture} has six square faces a cube, not {depth} of {width} x {height} texels")
    most = max(width, height, 1 if is_layered(texture) else depth).bit_length()
    if len(levels) > min(most, MOST_LEVELS):
        raise InputError(f"a {texture} of that size has at most {min(most, MOST_LEVELS)} mip levels")
    return TextureExtent(width, height, depth, samples if is_multisampled(texture) else len(levels))


def _spatial(texture: Texture) -> int:
    return {"1d": 1, "2d": 2}.get(texture.dimension, 3)


def _texels(form: TexelFormat, texture: Texture, given: AnyArray) -> AnyArray:
    """A level's words as bytes, of shape (depth, height, width, samples, bytes)."""
    inner = _spatial(texture) + is_multisampled(texture)
    array = given[..., np.newaxis] if given.ndim == inner else given
    if array.ndim != inner + 1 or (form.is_packed and given.ndim != inner):
        raise InputError(f"{texture} takes an array of shape {shape_text(texture)}, not {given.shape}")
    numbers = _stored(form, texture, array) if texture.format is not None else _sampled(form, texture, array)
    if not is_multisampled(texture):
        numbers = numbers[..., np.newaxis, :]
    numbers = numbers.reshape((1,) * (5 - numbers.ndim) + numbers.shape)
    raw = np.ascontiguousarray(numbers).view(np.uint8)
    words = np.zeros((*raw.shape[:-1], form.words * 4), np.uint8)
    words[..., : raw.shape[-1]] = raw
    return words


def _stored(form: TexelFormat, texture: Texture, array: AnyArray) -> AnyArray:
    """The numbers of a storage texture."""
    count = 1 if form.is_packed else len(form.channels)
    if array.shape[-1] != count:
        raise InputError(f"{texture} takes an array of shape {shape_text(texture)}, not {array.shape}")
    return _cast(texture, array, texel_dtype(texture))


def _sampled(form: TexelFormat, texture: Texture, array: AnyArray) -> AnyArray:
    """The numbers of a sampled or depth texture, all channels of the format."""
    given, wanted = array.shape[-1], len(form.channels)
    if given > wanted or given not in _CHANNELS:
        counts = "1, 2 or 4 channels" if wanted > 1 else "one channel"
        raise InputError(f"{texture} takes {counts}, not {given}")
    target = _channel_dtype(form)
    full = np.zeros((*array.shape[:-1], wanted), target)
    if wanted > 1:
        full[..., 3] = 255 if target == np.uint8 else 1
    scale = _NORMALIZED.get(array.dtype.str[1:])
    if target.kind == "f" and scale is not None:
        full[..., :given] = np.maximum(array.astype(target) / target.type(scale), target.type(-1))
    else:
        full[..., :given] = _cast(texture, array, target)
    return full


def _cast(texture: Texture, array: AnyArray, target: np.dtype[Any]) -> AnyArray:
    """The numbers in a texture's type, as `layout_numbers` has it; integers for floats are left to `_sampled`."""
    if array.dtype.kind != "f" if target.kind == "f" else array.dtype.kind not in "biu":
        raise InputError(f"{texture} takes {_accepted(texture, target)}, not {array.dtype}")
    stored = np.empty(array.shape, target)
    store(array, stored, NumberType(str(target), target), _place)
    return stored


def _accepted(texture: Texture, target: np.dtype[Any]) -> str:
    if texture.format is not None:
        return str(target)
    if target.kind != "f":
        return "integers"
    return "floats or normalised integers of 8 or 16 bits"
