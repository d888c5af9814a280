"""How a binding is described in messages."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from ...ir.textures import format_of, is_depth, is_multisampled, read_extent
from ...ir.types import F32, Access, Texture
from .model import Binding, BindingKind, GpuError, TextureBinding


class TextureHeader(TypedDict):
    """A texture: names are WebGPU's. Its bytes are those of its levels, without space between rows.

    `size` is width, height, and depth or layers; `sampled` the shader's scalar type of a texture that is only read.
    """

    format: str
    view: str
    size: tuple[int, int, int]
    levels: int
    texel_bytes: int
    sampled: str
    access: str


class BindingHeader(TypedDict):
    """One binding; its bytes are the blob at the same index. A texture has a `texture`."""

    group: int
    binding: int
    kind: BindingKind
    texture: NotRequired[TextureHeader]


def header_of(binding: Binding) -> BindingHeader:
    """The binding in messages. Raises GpuError for textures that WebGPU lets no program fill with bytes."""
    if not isinstance(binding, TextureBinding):
        return {"group": binding.group, "binding": binding.binding, "kind": binding.kind}
    is_storage = binding.type.format is not None
    return {
        "group": binding.group,
        "binding": binding.binding,
        "kind": "storage-texture" if is_storage else "texture",
        "texture": _texture_header(binding),
    }


def _texture_header(binding: TextureBinding) -> TextureHeader:
    type, extent, form = binding.type, read_extent(binding.data), format_of(binding.type)
    if is_multisampled(type) or is_depth(type):
        raise GpuError("invalid", f"not supported: a {type} on the GPU, since WebGPU copies no bytes into it")
    return {
        "format": form.name,
        "view": view_dimension(type),
        "size": (extent.width, extent.height, extent.depth),
        "levels": extent.count,
        "texel_bytes": form.bytes,
        "sampled": "" if type.format is not None else str(type.sampled or F32),
        "access": ACCESS_NAMES[type.access],
    }


ACCESS_NAMES = {None: "", Access.READ: "read-only", Access.WRITE: "write-only", Access.READ_WRITE: "read-write"}
"""WebGPU's words for access to storage textures."""
SAMPLE_TYPES = {"f32": "unfilterable-float", "i32": "sint", "u32": "uint"}
"""WebGPU's words for what shaders sample, where nothing is filtered."""


def view_dimension(type: Texture) -> str:
    """WebGPU's word for the dimension of a texture."""
    return type.dimension.replace("_", "-")
