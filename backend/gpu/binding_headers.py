"""How a binding is described in messages."""

from __future__ import annotations

from dataclasses import asdict
from typing import NotRequired, TypedDict

import numpy as np

from ...ir.samplers import Sampler
from ...ir.textures import format_of, is_depth, is_multisampled, read_extent
from ...ir.types import F32, Access, Texture
from .model import Binding, BindingKind, GpuError, SamplerBinding, TextureBinding


class TextureHeader(TypedDict):
    """A texture: names are WebGPU's. Its bytes are those of its levels, without space between rows.

    `size` is width, height, and depth or layers; `sampled` the shader's scalar type of a texture that is only read,
    empty for depths. A texture with several `samples` a texel has one level.
    """

    format: str
    view: str
    size: tuple[int, int, int]
    levels: int
    samples: int
    texel_bytes: int
    sampled: str
    access: str


class SamplerHeader(TypedDict):
    """A sampler: WebGPU's type of it in a layout, and its descriptor, as wgpu-py takes it."""

    type: str
    descriptor: dict[str, object]


class BindingHeader(TypedDict):
    """One binding; its bytes are the blob at the same index. A texture has a `texture`, a sampler a `sampler`."""

    group: int
    binding: int
    kind: BindingKind
    texture: NotRequired[TextureHeader]
    sampler: NotRequired[SamplerHeader]


def header_of(binding: Binding) -> BindingHeader:
    """The binding in messages. Raises GpuError for textures that WebGPU does not have, or lets no program fill."""
    if isinstance(binding, SamplerBinding):
        sampler: SamplerHeader = {"type": sampler_type(binding.sampler), "descriptor": asdict(binding.sampler)}
        return {"group": binding.group, "binding": binding.binding, "kind": "sampler", "sampler": sampler}
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
    samples = extent.count if is_multisampled(type) else 1
    if is_multisampled(type) and samples != SAMPLES:
        raise GpuError("invalid", f"not supported: a {type} with {samples} samples a texel: WebGPU has {SAMPLES}")
    if is_depth(type):
        _check_depths(type, binding.raw())
    return {
        "format": "depth32float" if is_depth(type) else form.name,
        "view": view_dimension(type),
        "size": (extent.width, extent.height, extent.depth),
        "levels": 1 if is_multisampled(type) else extent.count,
        "samples": samples,
        "texel_bytes": form.bytes,
        "sampled": "" if type.format is not None or is_depth(type) else str(type.sampled or F32),
        "access": ACCESS_NAMES[type.access],
    }


def _check_depths(type: Texture, raw: bytes) -> None:
    """Raise GpuError for depths that cannot be drawn, as a viewport has those from 0 to 1."""
    depths = np.frombuffer(raw, np.float32)
    if not ((depths >= 0) & (depths <= 1)).all():
        raise GpuError("invalid", f"not supported: a {type} with depths that are not from 0 to 1 on the GPU")


def sampler_type(sampler: Sampler) -> str:
    """WebGPU's word for the type of a sampler in a layout."""
    if sampler.compare is not None:
        return "comparison"
    return "filtering" if sampler.is_filtering else "non-filtering"


ACCESS_NAMES = {None: "", Access.READ: "read-only", Access.WRITE: "write-only", Access.READ_WRITE: "read-write"}
"""WebGPU's words for access to storage textures."""
SAMPLE_TYPES = {"f32": "unfilterable-float", "i32": "sint", "u32": "uint", "": "depth"}
"""WebGPU's words for what shaders sample, where nothing is filtered; that of depths has no type."""
SAMPLES = 4
"""The samples of each texel of a multisampled texture: WebGPU allows no other number above 1."""
FILTERABLE = "float32-filterable"
"""The feature by which rgba32float, the format of all sampled textures of f32 here, may be filtered."""


def view_dimension(type: Texture) -> str:
    """WebGPU's word for the dimension of a texture."""
    return type.dimension.replace("_", "-")
