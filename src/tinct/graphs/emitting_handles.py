"""Textures and samplers of emitted plans, in WebGPU's words. docs/emit.md describes them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final, TypeAlias

from ..backend.gpu.binding_headers import ACCESS_NAMES, FILTERABLE, view_dimension
from ..backend.gpu.model import TextureBinding
from ..base.errors import InputError
from ..ir.samplers import Sampler, read_sampler
from ..ir.textures import format_of, level_starts, read_extent
from ..ir.types import F32, I32, Texture, TextureKind
from ..ir.types import Sampler as SamplerType
from ..textures import widened
from .plan import Dispatch, Handle, Plan

Json: TypeAlias = dict[str, Any]

SAMPLER_WORDS: Final = {
    name: "".join((first, *(it.title() for it in others)))
    for name in Sampler.__dataclass_fields__
    for first, *others in [name.split("_")]
}
"""The names of WebGPU's GPUSamplerDescriptor, by those of `Sampler`."""


def check_handles(plan: Plan) -> None:
    """Raise InputError for a texture that no emitted plan can hold: its texels are written by a node, or cannot be
    copied from bytes.
    """
    inputs = {buffer for it in plan.inputs for buffer in it.buffers}
    written = {it.buffer for step in plan.steps if isinstance(step, Dispatch) for it in step.bindings if it.is_written}
    for number, it in enumerate(plan.buffers):
        type = None if it.handle is None else it.handle.type
        if not isinstance(type, Texture):
            continue
        if number not in inputs or number in written:
            raise _refusal(plan, f"a node writes {it.label!r}, a {type}")
        if type.format is None and type.kind is not TextureKind.SAMPLED:
            raise _refusal(plan, f"{it.label!r} is a {type}, whose texels WebGPU copies from no bytes")
    for output in plan.outputs:
        if plan.buffers[output.buffer].handle is not None:
            raise _refusal(plan, f"its output {output.name!r} is a texture")


def _refusal(plan: Plan, what: str) -> InputError:
    return InputError(f"not supported: an emitted plan of graph {plan.graph!r}: {what}")


def filters(plan: Plan) -> bool:
    """Whether a sampler blends texels."""
    handles = (it.handle for it in plan.buffers if it.handle is not None)
    return any(read_sampler(it.head).is_filtering for it in handles if isinstance(it.type, SamplerType))


def features_of(plan: Plan) -> list[str]:
    """What a device needs for the textures: all that are sampled as f32 are rgba32float."""
    has_floats = any(it.handle is not None and _is_sampled_float(it.handle.type) for it in plan.buffers)
    return [FILTERABLE] if has_floats and filters(plan) else []


def _is_sampled_float(type: Texture | SamplerType) -> bool:
    return isinstance(type, Texture) and type.format is None and (type.sampled or F32) is F32


def layout_of(type: Texture | SamplerType, *, is_filtered: bool) -> Json:
    """The entry of a bind group's layout."""
    if isinstance(type, SamplerType):
        kind = "filtering" if is_filtered else "non-filtering"
        return {"sampler": {"type": "comparison" if type.comparison else kind}}
    view = view_dimension(type)
    if type.format is not None:
        access = ACCESS_NAMES[type.access]
        return {"storageTexture": {"access": access, "format": type.format, "viewDimension": view}}
    if _is_sampled_float(type):
        kind = "float" if is_filtered else "unfilterable-float"
    else:
        kind = "sint" if type.sampled is I32 else "uint"
    return {"texture": {"sampleType": kind, "viewDimension": view}}


def resource_of(handle: Handle) -> Json:
    """What is made: a texture with its bytes, or a sampler."""
    if isinstance(handle.type, SamplerType):
        made = asdict(read_sampler(handle.head))
        return {"sampler": {SAMPLER_WORDS[name]: it for name, it in made.items() if it is not None}}
    extent, form = read_extent(handle.head), format_of(handle.type)
    return {
        "texture": {
            "format": form.name,
            "viewDimension": view_dimension(handle.type),
            "size": [extent.width, extent.height, extent.depth],
            "levels": extent.count,
            "texelBytes": form.bytes,
        }
    }


def texel_bytes(handle: Handle) -> int:
    """The bytes of all texels, in their format; none of a sampler."""
    if isinstance(handle.type, SamplerType):
        return 0
    return level_starts(handle.type, read_extent(handle.head))[-1] * format_of(handle.type).bytes


def texels(type: Texture, data: bytes | bytearray) -> bytes:
    """The texels of all levels in their format, without space between rows."""
    return TextureBinding(0, 0, type, bytes(widened(type, data))).raw()
