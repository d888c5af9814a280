"""Kernels of ours that write all texels of a texture: zeros, or the texels of a texture in another format.

Each is for one dimension and one format, by a name that no leaf of a graph has.
"""

from __future__ import annotations

import re
from typing import Final

from .ir.texels import texel_format
from .ir.textures import TextureExtent, widest_format
from .ir.types import Texture

_NAMES: Final = re.compile(r"texel-(zeros|widening)-(1d|2d|2d_array|3d)-(\w+)\Z")
_GROUPS: Final = {"1d": (64, 1, 1), "2d": (8, 8, 1), "2d_array": (8, 8, 1), "3d": (4, 4, 4)}
_PLACES: Final = {"1d": "id.x", "2d": "id.xy", "2d_array": "id.xy, id.z", "3d": "id"}
_WGSL: Final = """{source}
@group(0) @binding(1) var target_texels: texture_storage_{dimension}<{format}, write>;

// What is outside of the texture is not stored.
@compute @workgroup_size({group}) fn main(@builtin(global_invocation_id) id: vec3u) {{
    textureStore(target_texels, {place}, {value});
}}
"""


def zeros_name(texture: Texture) -> str:
    """The name of the kernel that gives zeros to a storage texture, `target_texels`."""
    return f"texel-zeros-{texture.dimension}-{texture.format}"


def widening_name(texture: Texture) -> str:
    """The name of the kernel that gives the texels of a storage texture, `source_texels`, to one that may be sampled,
    `target_texels`.
    """
    return f"texel-widening-{texture.dimension}-{texture.format}"


def is_texel_kernel(name: str) -> bool:
    """Whether it is the name of a kernel of this module."""
    return _NAMES.match(name) is not None


def texel_wgsl(name: str) -> str:
    """The module with the kernel of a name, whose entry point is `main`."""
    found = _NAMES.match(name)
    assert found is not None
    purpose, dimension, format = found.groups()
    place, scalar = _PLACES[dimension], texel_format(format).scalar
    source, value = "", f"vec4<{scalar}>()"
    if purpose == "widening":
        source = f"@group(0) @binding(0) var source_texels: texture_storage_{dimension}<{format}, read>;"
        value, format = f"textureLoad(source_texels, {place})", widest_format(scalar).name
    group = ", ".join(map(str, _GROUPS[dimension]))
    text = _WGSL.format(source=source, dimension=dimension, format=format, group=group, place=place, value=value)
    return text.lstrip()


def workgroups_over(texture: Texture, extent: TextureExtent) -> tuple[int, int, int]:
    """The workgroups of a kernel of this module for a texture."""
    x, y, z = _GROUPS[texture.dimension]
    return -(-extent.width // x), -(-extent.height // y), -(-extent.depth // z)
