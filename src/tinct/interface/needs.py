"""The limits and features that shaders need of a device (WebGPU, "Limits" and "Feature Index")."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from ..base.errors import TinctError
from ..ir import layout
from ..ir.core.runnable import workgroup_storage
from ..ir.entry_points import entry_point
from ..ir.types import Access, AddressSpace, Sampler, Stage, Texture, TextureKind
from ..ir.wgsl.program import FunctionInfo, Program
from ..reflection import BindingInfo
from ..shader import Shader

_FEATURES_OF_EXTENSIONS: Final = {
    "f16": "shader-f16",
    "subgroups": "subgroups",
    "subgroup_size_control": "subgroup-size-control",
    "clip_distances": "clip-distances",
    "dual_source_blending": "dual-source-blending",
    "primitive_index": "primitive-index",
}
_READ_AND_WRITTEN: Final = frozenset({"r32uint", "r32sint", "r32float"})
_STORAGE_FORMATS: Final = _READ_AND_WRITTEN | frozenset(
    f"{channels}{bits}{kind}"
    for channels, bits, kinds in (
        ("rgba", 8, ("unorm", "snorm", "uint", "sint")),
        ("rgba", 16, ("uint", "sint", "float")),
        ("rg", 32, ("uint", "sint", "float")),
        ("rgba", 32, ("uint", "sint", "float")),
    )
    for kind in kinds
)
"""The formats that all devices have for storage textures (WebGPU, "Plain color formats")."""


def features_of(program: Program) -> list[str]:
    """The GPUFeatureNames that a device must have for the shader's module and its storage textures, sorted."""
    found = {_FEATURES_OF_EXTENSIONS[it] for it in program.enables}
    textures = [it.type for it in program.variables if isinstance(it.type, Texture)]
    return sorted(found.union(*(_features_of_texture(it) for it in textures)))


def _features_of_texture(texture: Texture) -> set[str]:
    if texture.kind is not TextureKind.STORAGE or texture.format is None:
        return set()
    if texture.access is Access.READ_WRITE and texture.format not in _READ_AND_WRITTEN:
        return {"texture-formats-tier2"}
    if texture.format == "bgra8unorm":
        return {"bgra8unorm-storage"}
    return set() if texture.format in _STORAGE_FORMATS else {"texture-formats-tier1"}


def default_workgroup_size(shader: Shader, function: FunctionInfo) -> tuple[int, int, int] | None:
    """The workgroup size while all overrides have their default values; None if it does not exist."""
    if function.stage is not Stage.COMPUTE:
        return None
    try:
        return shader[function.name].workgroup_size()
    except TinctError:  # an override has no default value, or the default values do not fit
        return None


def workgroup_memory(shader: Shader, function: FunctionInfo) -> int | None:
    """The bytes of workgroup memory as WebGPU counts them; None where they need an override without default value."""
    if not any(it.space is AddressSpace.WORKGROUP for it in function.resources):
        return 0
    try:
        module = shader.compilation(function.name, {}).specialised
    except TinctError:
        return None
    return workgroup_storage(entry_point(module.functions, function.name))


def limits_of(shader: Shader, function: FunctionInfo) -> dict[str, int | None]:
    """The least GPUSupportedLimits with which an entry point can run, overrides having their default values."""
    bindings = [shader.bindings[it.name] for it in function.resources if it.binding is not None]
    size = default_workgroup_size(shader, function)
    x, y, z = (0, 0, 0) if function.stage is not Stage.COMPUTE else (None, None, None) if size is None else size
    immediate = [it.type for it in function.resources if it.space is AddressSpace.IMMEDIATE]
    return {
        "maxBindGroups": max((it.group + 1 for it in bindings), default=0),
        "maxBindingsPerBindGroup": max((it.binding + 1 for it in bindings), default=0),
        **_slots(bindings),
        "maxUniformBufferBindingSize": _largest(bindings, "uniform"),
        "maxStorageBufferBindingSize": _largest(bindings, "storage"),
        "maxImmediateSize": sum(layout.size_of(it) for it in immediate),
        "maxComputeWorkgroupStorageSize": workgroup_memory(shader, function),
        "maxComputeInvocationsPerWorkgroup": None if x is None or y is None or z is None else prod((x, y, z)),
        "maxComputeWorkgroupSizeX": x,
        "maxComputeWorkgroupSizeY": y,
        "maxComputeWorkgroupSizeZ": z,
    }


def _slots(bindings: Sequence[BindingInfo]) -> dict[str, int]:
    """What the bindings use of each kind of slot. An external texture takes four sampled textures, a sampler and a
    uniform buffer (WebGPU, "exceeds the binding slot limits").
    """
    textures = [it.type for it in bindings if isinstance(it.type, Texture)]
    external = sum(it.kind is TextureKind.EXTERNAL for it in textures)
    stored = sum(it.kind is TextureKind.STORAGE for it in textures)
    sampled = len(textures) - external - stored
    return {
        "maxSampledTexturesPerShaderStage": sampled + 4 * external,
        "maxSamplersPerShaderStage": sum(isinstance(it.type, Sampler) for it in bindings) + external,
        "maxStorageTexturesPerShaderStage": stored,
        "maxUniformBuffersPerShaderStage": sum(it.space == "uniform" for it in bindings) + external,
        "maxStorageBuffersPerShaderStage": sum(it.space == "storage" for it in bindings),
    }


def _largest(bindings: Sequence[BindingInfo], space: str) -> int:
    return max((it.minimum_size for it in bindings if it.space == space), default=0)
