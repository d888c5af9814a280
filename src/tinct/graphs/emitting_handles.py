"""Textures and samplers of emitted plans, in WebGPU's words. docs/emit.md describes them."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any, Final, TypeAlias

import numpy as np

from ..backend.gpu.binding_headers import ACCESS_NAMES, FILTERABLE, SAMPLES, view_dimension
from ..backend.gpu.depth_textures import FORMAT as DEPTH_FORMAT
from ..backend.gpu.model import TextureBinding
from ..backend.gpu.multisampled_textures import NARROW, holds
from ..base.errors import InputError
from ..ir.samplers import Sampler, read_sampler
from ..ir.textures import format_of, is_depth, is_multisampled, level_starts, read_extent
from ..ir.types import F32, I32, Access, Texture
from ..ir.types import Sampler as SamplerType
from ..textures import widened
from .plan import Handle, Plan

Json: TypeAlias = dict[str, Any]

SAMPLER_WORDS: Final = {
    name: "".join((first, *(it.title() for it in others)))
    for name in Sampler.__dataclass_fields__
    for first, *others in [name.split("_")]
}
"""The names of WebGPU's GPUSamplerDescriptor, by those of `Sampler`."""
ROW_ALIGNMENT: Final = 256
"""WebGPU's `bytesPerRow` is a multiple of so many bytes where a texture is copied to a buffer."""
_CORE_STORAGE: Final = re.compile(r"rgba8(unorm|snorm|uint|sint)|(rgba16|r32|rg32|rgba32)(uint|sint|float)\Z")
"""The formats of storage textures that every device has."""
_DRAWING: Final = """override width: u32;

struct Corner {{ @builtin(position) at: vec4f, @location(0) @interpolate(flat) sample: u32 }}
struct Drawn {{ @builtin(sample_mask) mask: u32, {result} value: {type} }}

@group(0) @binding(0) var<storage, read> texels: array<{type}>;

@vertex fn corner(@builtin(vertex_index) index: u32, @builtin(instance_index) sample: u32) -> Corner {{
    return Corner(vec4f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0), sample);
}}

@fragment fn draw(corner: Corner) -> Drawn {{
    let at = vec2u(corner.at.xy);
    return Drawn(1u << corner.sample, texels[(at.y * width + at.x) * {samples}u + corner.sample]);
}}
"""


def check_handles(plan: Plan) -> None:
    """Raise InputError for what WebGPU has no textures for: samples that are not four, and multisampled outputs."""
    for it in plan.buffers:
        type = None if it.handle is None else it.handle.type
        if it.handle is None or not isinstance(type, Texture) or not is_multisampled(type):
            continue
        samples = read_extent(it.handle.head).count
        if samples != SAMPLES:
            raise _refusal(plan, f"{it.label!r} has {samples} samples a texel, where WebGPU has {SAMPLES}")
    for output in plan.outputs:
        type = texture_type(plan.buffers[output.buffer].handle)
        if type is not None and is_multisampled(type):
            raise _refusal(plan, f"its output {output.name!r} is a {type}, which WebGPU copies to no buffer")


def _refusal(plan: Plan, what: str) -> InputError:
    return InputError(f"not supported: an emitted plan of graph {plan.graph!r}: {what}")


def filters(plan: Plan) -> bool:
    """Whether a sampler blends texels."""
    handles = (it.handle for it in plan.buffers if it.handle is not None)
    return any(read_sampler(it.head).is_filtering for it in handles if isinstance(it.type, SamplerType))


def is_sampled_float(type: Texture | SamplerType) -> bool:
    """Whether a binding is a texture that a sampler may blend."""
    if not isinstance(type, Texture) or type.format is not None or is_depth(type):
        return False
    return (type.sampled or F32) is F32


def features_for(type: Texture | SamplerType, handle: Handle, *, is_filtered: bool) -> set[str]:
    """What a device needs for a texture at a binding of that type: samplers that blend floats of 32 bits, and storage
    textures that are no part of every WebGPU (WebGPU, "Texture Format Capabilities").
    """
    given = texture_type(handle)
    if not isinstance(type, Texture) or given is None:
        return set()
    if type.format is None:
        is_wide = is_sampled_float(type) and texture_format(given).endswith("32float")
        return {FILTERABLE} if is_wide and is_filtered and not is_multisampled(type) else set()
    found = {"bgra8unorm-storage"} if type.format == "bgra8unorm" else {"texture-formats-tier1"}
    found = set() if _CORE_STORAGE.match(type.format) else found
    needs_more = type.access is Access.READ_WRITE and not type.format.startswith("r32")
    return {*found, *({"texture-formats-tier2"} if needs_more else ())}


def layout_of(type: Texture | SamplerType, *, is_filtered: bool) -> Json:
    """The entry of a bind group's layout."""
    if isinstance(type, SamplerType):
        kind = "filtering" if is_filtered else "non-filtering"
        return {"sampler": {"type": "comparison" if type.comparison else kind}}
    view = view_dimension(type)
    if type.format is not None:
        access = ACCESS_NAMES[type.access]
        return {"storageTexture": {"access": access, "format": type.format, "viewDimension": view}}
    multisampled = {"multisampled": True} if is_multisampled(type) else {}
    if is_depth(type):
        kind = "depth"
    elif is_sampled_float(type):
        kind = "float" if is_filtered and not multisampled else "unfilterable-float"
    else:
        kind = "sint" if type.sampled is I32 else "uint"
    return {"texture": {"sampleType": kind, "viewDimension": view, **multisampled}}


def texture_type(handle: Handle | None) -> Texture | None:
    """The type of a texture; None for all else."""
    return handle.type if handle is not None and isinstance(handle.type, Texture) else None


def texture_format(type: Texture) -> str:
    """The format that WebGPU has for a texture. Every device multisamples colours of 16 bits only."""
    if is_depth(type):
        return DEPTH_FORMAT
    return NARROW[str(type.sampled or F32)][0] if is_multisampled(type) else format_of(type).name


def is_drawn(type: Texture) -> bool:
    """Whether WebGPU copies no bytes into such a texture, so that its texels are drawn."""
    return is_depth(type) or is_multisampled(type)


def resource_of(handle: Handle) -> Json:
    """What is made: a texture with its bytes, or a sampler."""
    if isinstance(handle.type, SamplerType):
        words = asdict(read_sampler(handle.head))
        return {"sampler": {SAMPLER_WORDS[name]: it for name, it in words.items() if it is not None}}
    type, extent = handle.type, read_extent(handle.head)
    samples = extent.count if is_multisampled(type) else 1
    made: Json = {
        "format": texture_format(type),
        "viewDimension": view_dimension(type),
        "size": [extent.width, extent.height, extent.depth],
        "levels": 1 if is_multisampled(type) else extent.count,
        "texelBytes": format_of(type).bytes * samples,
    }
    if samples > 1:
        made["samples"] = samples
    if is_drawn(type):
        made["draw"] = {"file": drawing_file(type), "vertex": "corner", "fragment": "draw"}
    return {"texture": made}


def texel_bytes(handle: Handle) -> int:
    """The bytes of all texels, in their format; none of a sampler."""
    if isinstance(handle.type, SamplerType):
        return 0
    return level_starts(handle.type, read_extent(handle.head))[-1] * format_of(handle.type).bytes


def rows_of(handle: Handle) -> Json:
    """How an output that is a texture is copied to a buffer: its first level, with the rows that WebGPU asks for."""
    type, extent = handle.type, read_extent(handle.head)
    assert isinstance(type, Texture)
    row = extent.width * format_of(type).bytes
    return {
        "size": row * extent.height * extent.depth,
        "bytesPerRow": row + -row % ROW_ALIGNMENT,
        "rowsPerImage": extent.height,
    }


def texels(name: str, type: Texture, data: bytes | bytearray) -> bytes:
    """The texels of all levels as they are written to the plan's texture, without space between rows. Raises InputError
    for those that it cannot have.
    """
    found = TextureBinding(0, 0, type, bytes(widened(type, data))).raw()
    if is_depth(type):
        depths = np.frombuffer(found, np.float32)
        if not ((depths >= 0) & (depths <= 1)).all():
            raise InputError(f"not supported: {name}: depths that are not from 0 to 1, since WebGPU draws no others")
    elif is_multisampled(type) and not holds(str(type.sampled or F32), found):
        what = f"samples that {texture_format(type)} does not hold: WebGPU multisamples no colours of 32 bits"
        raise InputError(f"not supported: {name}: {what}")
    return found


def drawing_file(type: Texture) -> str:
    """The file of what draws texels."""
    samples = "multisampled-" if is_multisampled(type) else ""
    return f"draw-{samples}{'depths' if is_depth(type) else type.sampled or F32}.wgsl"


def drawing_wgsl(type: Texture) -> str:
    """What draws the texels of one layer of a level: a triangle over all of it, once for each sample of a texel."""
    return _DRAWING.format(
        result="@builtin(frag_depth)" if is_depth(type) else "@location(0)",
        type="f32" if is_depth(type) else f"vec4<{type.sampled or F32}>",
        samples=SAMPLES if is_multisampled(type) else 1,
    )
