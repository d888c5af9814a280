"""The WGSL types of an emitted plan's textures."""

from __future__ import annotations

from functools import cache

from ...backend.gpu.model import TextureBinding
from ...ir.diagnostics import ShaderError
from ...ir.textures import TextureExtent, format_of, pack_header
from ...ir.types import Texture
from ...shader import load
from .plan_file import TextureFile


@cache
def texture_named(type: str) -> Texture | None:
    """The texture type of that name; None if it is none."""
    try:
        found = load(f"@group(0) @binding(0) var texels: {type};").bindings["texels"].type
    except ShaderError:
        return None
    return found if isinstance(found, Texture) else None


def storage_type(texture: TextureFile) -> Texture:
    """The type of a texture that a kernel writes. Raises InputError for a format, or a dimension, that none has."""
    name = f"texture_storage_{texture.view.replace('-', '_')}<{texture.format}, write>"
    found = texture_named(name)
    if found is None:
        raise texture.fields.error("format", f"there is no {name}")
    return found


def texture_of_texels(type: Texture, extent: TextureExtent, texels: bytes) -> bytes:
    """A texture as `ir.textures` describes it, of the texels that a file or a GPU has."""
    head = pack_header(type, extent, format_of(type))
    return bytes(TextureBinding(0, 0, type, head).restored(texels))
