"""The memory of a texture on devices without texture units: a header, then the texels of all mip levels.

The header is twenty-four u32 words: the width, the height, and the depth or number of layers of the first level, the
number of mip levels or of samples, for each mip level its start, counted in texels, and 1 if the texels are bytes,
followed by zeros. The faces of a cube are layers. Texels follow in the order of x, y, z or layer, a texel's samples
side by side, each in its format's words (`texels`). A sampled texture has the widest format with its sampled type, an
external texture rgba32float, a depth texture r32float: the program's data is converted when it is bound. A sampled
texture of f32 may be *bytes*
instead, in rgba8unorm, a quarter of the memory, padded to a whole number of wide texels. The word of the header that
says so is the same for all invocations, and chooses between two loads. The memory of a storage texture of rgba8unorm is
that of bytes, so that it may be bound as a sampled texture, too; so may one whose format is the widest.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import cache

from ..base.records import dataclass
from .texels import TexelFormat, texel_format
from .types import F32, I32, U32, Access, Array, Scalar, Struct, StructMember, Texture, TextureKind, Type, array, vector

SIZE, STARTS, FORMAT, TEXELS = 0, 1, 2, 3
"""Members of `storage_type`."""

MOST_LEVELS = 16
_HEADER = struct.Struct(f"<{4 + MOST_LEVELS + 4}I")
_FORMAT_OFFSET = 4 * (4 + MOST_LEVELS)
HEADER_BYTES = _HEADER.size

_BYTES = "rgba8unorm"
_SAMPLED = {F32: "rgba32float", I32: "rgba32sint", U32: "rgba32uint"}


@dataclass(frozen=True, slots=True)
class TextureExtent:
    """Texels along x, y, and z or layers; `count` mip levels, or samples of each texel."""

    width: int
    height: int
    depth: int
    count: int


@cache
def format_of(texture: Texture) -> TexelFormat:
    """The format of the texels in memory, if they are not bytes."""
    if texture.format is not None:
        return texel_format(texture.format)
    if is_depth(texture):
        return texel_format("r32float")
    return widest_format(texture.sampled or F32)


def widest_format(sampled: Scalar) -> TexelFormat:
    """The format of sampled textures of a scalar type, if their texels are not bytes."""
    return texel_format(_SAMPLED[sampled])


@cache
def format_of_bytes(texture: Texture) -> TexelFormat | None:
    """The format of a texture whose texels are bytes; None if they never are."""
    may_be_bytes = texture.kind is TextureKind.SAMPLED and texture.sampled is F32
    return texel_format(_BYTES) if may_be_bytes else None


def format_in(texture: Texture, data: bytes | bytearray | memoryview) -> TexelFormat:
    """The format of the texels in a texture's memory."""
    in_bytes = format_of_bytes(texture)
    return format_of(texture) if in_bytes is None or not are_bytes(texture, data) else in_bytes


def are_bytes(texture: Texture, data: bytes | bytearray | memoryview) -> bool:
    """Whether the texels in a texture's memory are bytes."""
    return format_of_bytes(texture) is not None and data[_FORMAT_OFFSET] != 0


@cache
def storage_type(texture: Texture, *, in_bytes: bool = False) -> Struct:
    """The memory of a texture as a WGSL structure. `in_bytes`: of one whose texels are known to be bytes, a word each;
    other code sees them as parts of wide texels.
    """
    texel = U32 if in_bytes else format_of(texture).texel_type
    members: list[tuple[str, Type]] = [
        ("size", vector(4, U32)),
        ("starts", array(U32, MOST_LEVELS)),
        ("format", vector(4, U32)),
        ("texels", array(texel, None)),
    ]
    return Struct(str(texture), tuple(StructMember(name, type) for name, type in members))


def texel_array(texture: Texture, *, in_bytes: bool = False) -> Array:
    """The type of the texels in `storage_type`."""
    type = storage_type(texture, in_bytes=in_bytes).members[TEXELS].type
    assert isinstance(type, Array)
    return type


def whole_texels(size: int, texture: Texture, form: TexelFormat) -> int:
    """The bytes that a texture's memory has for so many bytes of texels in a format."""
    widest = widest_format(F32) if form is texel_format(_BYTES) else format_of(texture)
    return size + -size % (4 * widest.words)


def is_sampled_as(given: Texture, wanted: Texture) -> bool:
    """Whether a storage texture may be bound as a sampled one: it has its dimension, and channels of the sampled
    type, which WebGPU asks for.
    """
    if given.format is None or wanted.format is not None or given.dimension != wanted.dimension:
        return False
    return wanted.kind is TextureKind.SAMPLED and texel_format(given.format).scalar is (wanted.sampled or F32)


def needs_widening(given: Texture, wanted: Texture) -> bool:
    """Whether the memory of a storage texture, which is bound as a sampled one, has no form that this takes."""
    form = format_of(given)
    return is_sampled_as(given, wanted) and form is not format_of(wanted) and form is not format_of_bytes(wanted)


def is_loadable(type: Type) -> bool:
    """Whether a type is a texture, whose texels can be read without a sampler."""
    return isinstance(type, Texture)


def is_depth(texture: Texture) -> bool:
    """Whether a texel is one number."""
    return texture.kind in (TextureKind.DEPTH, TextureKind.DEPTH_MULTISAMPLED)


def is_written(texture: Texture) -> bool:
    """Whether a shader may write the texture."""
    return texture.access in (Access.WRITE, Access.READ_WRITE)


def is_multisampled(texture: Texture) -> bool:
    """Whether the texture is multisampled."""
    return texture.kind in (TextureKind.MULTISAMPLED, TextureKind.DEPTH_MULTISAMPLED)


def is_layered(texture: Texture) -> bool:
    """Whether the third extent is the number of layers, which is the same at each mip level."""
    return texture.dimension in ("2d_array", "cube", "cube_array")


def rank(texture: Texture) -> int:
    """The number of extents that `textureDimensions` gives."""
    return {"1d": 1, "3d": 3}.get(texture.dimension, 2)


def level_extent(texture: Texture, extent: TextureExtent, level: int) -> tuple[int, int, int]:
    """Width, height, and depth or layers of a mip level."""
    depth = extent.depth if is_layered(texture) else max(1, extent.depth >> level)
    return max(1, extent.width >> level), max(1, extent.height >> level), depth


def level_starts(texture: Texture, extent: TextureExtent) -> list[int]:
    """The start of each mip level, counted in texels, followed by the end of the last one."""
    starts = [0]
    for level in range(1 if is_multisampled(texture) else extent.count):
        width, height, depth = level_extent(texture, extent, level)
        starts.append(starts[-1] + width * height * depth * (extent.count if is_multisampled(texture) else 1))
    return starts


def pack_header(texture: Texture, extent: TextureExtent, form: TexelFormat) -> bytes:
    """The header: the first `HEADER_BYTES` bytes."""
    starts = level_starts(texture, extent)[:-1]
    sizes = extent.width, extent.height, extent.depth, extent.count
    return _HEADER.pack(*sizes, *_padded(starts), form is texel_format(_BYTES), 0, 0, 0)


def _padded(starts: Iterable[int]) -> list[int]:
    given = list(starts)
    return given + [0] * (MOST_LEVELS - len(given))


def read_extent(data: bytes | bytearray | memoryview) -> TextureExtent:
    """The extent in the header of a texture's memory."""
    width, height, depth, count, *_ = _HEADER.unpack_from(data)
    return TextureExtent(width, height, depth, count)
