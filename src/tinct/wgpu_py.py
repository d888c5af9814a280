"""Kernels for programs that use wgpu-py: layouts, pipelines and bind groups, as wgpu-py takes them.

    layouts = kernel.bind_group_layouts()  # entries for device.create_bind_group_layout, by group
    pipeline = kernel.pipeline(device)
    groups = kernel.bind(device, {"x": x, "y": y_buffer, "params": {"a": 2, "n": 100}})
    compute_pass.set_pipeline(pipeline)
    for number, group in groups.items():
        compute_pass.set_bind_group(number, group)

wgpu itself is not imported: the device that is given does all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, Protocol, TypeAlias, cast

from .backend.gpu.binding_headers import ACCESS_NAMES, SAMPLE_TYPES, view_dimension
from .base.errors import InputError
from .buffers import pack_binding, values_by_name
from .gpu import kind_of
from .ir.samplers import Sampler as SamplerValue
from .ir.types import F32, BindingPoint, Sampler, Texture, TextureKind
from .ir.types import Buffer as RawBuffer
from .pipeline import GpuKernel
from .reflection import BindingInfo

LayoutEntry: TypeAlias = "dict[str, object]"
"""An entry of a bind group layout: a GPUBindGroupLayoutEntry with the names of wgpu-py."""
Layouts: TypeAlias = "dict[int, list[LayoutEntry]]"
"""The entries of each group."""
Pairs: TypeAlias = "Sequence[tuple[BindingPoint, BindingPoint]]"
"""Each texture with each sampler that reads it."""
GpuObject: TypeAlias = Any
"""An object of wgpu-py, which has no types of its own."""

_COMPUTE: Final = 4
"""GPUShaderStage.COMPUTE (WebGPU, "GPUShaderStage")."""
_COPY_SRC, _COPY_DST, _UNIFORM, _STORAGE = 4, 8, 64, 128
"""Flags of GPUBufferUsage (WebGPU, "GPUBufferUsage")."""
_UNIFORM_ROUNDING: Final = 16


class WgpuDevice(Protocol):
    """What is needed of a `wgpu.GPUDevice`."""

    def create_shader_module(self, *, code: str) -> GpuObject:
        """Compile WGSL."""
        ...

    def create_bind_group_layout(self, *, entries: list[LayoutEntry]) -> GpuObject:
        """Make the layout of a group."""
        ...

    def create_pipeline_layout(self, *, bind_group_layouts: list[GpuObject]) -> GpuObject:
        """Make the layout of a pipeline."""
        ...

    def create_compute_pipeline(self, *, layout: GpuObject, compute: dict[str, object]) -> GpuObject:
        """Make a pipeline."""
        ...

    def create_bind_group(self, *, layout: GpuObject, entries: list[dict[str, object]]) -> GpuObject:
        """Make a bind group."""
        ...

    def create_sampler(self, **descriptor: object) -> GpuObject:
        """Make a sampler."""
        ...

    def create_buffer_with_data(self, *, data: bytes, usage: int) -> GpuObject:
        """Make a buffer with contents."""
        ...


def layouts_of(bindings: Sequence[BindingInfo], pairs: Pairs) -> Layouts:
    """The entries of the layout of each group, up to the last one that has bindings. Raises InputError.

    As in WebGPU's default layouts ("default pipeline layout"), a texture of f32 that a sampler reads is filterable. A
    sampler is filtering if all textures that it reads are.
    """
    by_point = {it.point: it for it in bindings}
    filterable = {texture for texture, _ in pairs if _is_float(by_point[texture])}
    filtering = {sampler for _, sampler in pairs} - {other for one, other in pairs if one not in filterable}
    found: Layouts = {number: [] for number in range(max((it.group for it in bindings), default=-1) + 1)}
    for info in sorted(bindings, key=lambda it: it.binding):
        found[info.group].append(_entry(info, is_filtered=info.point in filterable | filtering))
    return found


class LaidOut(Protocol):
    """What is needed of a `Kernel`."""

    @property
    def bindings(self) -> Sequence[BindingInfo]:
        """What it uses."""
        ...

    def sampled_pairs(self) -> Pairs:
        """What it samples."""
        ...


def shared_layouts(kernels: Sequence[LaidOut]) -> Layouts:
    """The layouts that pipelines of several kernels can share. Raises InputError for different variables at one
    binding.
    """
    found: dict[BindingPoint, BindingInfo] = {}
    for info in (info for kernel in kernels for info in kernel.bindings):
        other = found.setdefault(info.point, info)
        if other.name != info.name:
            point = f"@group({info.group}) @binding({info.binding})"
            raise InputError(f"entry points have different variables at {point}: {other.name!r} and {info.name!r}")
    return layouts_of(list(found.values()), [pair for kernel in kernels for pair in kernel.sampled_pairs()])


def _is_float(info: BindingInfo) -> bool:
    return isinstance(info.type, Texture) and str(info.type.sampled) == "f32"


def _entry(info: BindingInfo, *, is_filtered: bool) -> LayoutEntry:
    entry: LayoutEntry = {"binding": info.binding, "visibility": _COMPUTE}
    type = info.type
    if isinstance(type, Sampler):
        kind = "comparison" if type.comparison else "filtering" if is_filtered else "non-filtering"
        return {**entry, "sampler": {"type": kind}}
    if not isinstance(type, Texture):
        buffer = {"type": kind_of(info), "has_dynamic_offset": False, "min_binding_size": _least_size(info)}
        return {**entry, "buffer": buffer}
    view = view_dimension(type)
    match type.kind:
        case TextureKind.STORAGE:
            access = ACCESS_NAMES[type.access]
            return {**entry, "storage_texture": {"access": access, "format": type.format, "view_dimension": view}}
        case TextureKind.DEPTH | TextureKind.DEPTH_MULTISAMPLED:
            sample = "depth"
        case TextureKind.SAMPLED | TextureKind.MULTISAMPLED | TextureKind.EXTERNAL:
            sample = "float" if is_filtered else SAMPLE_TYPES[str(type.sampled or F32)]
    is_multisampled = type.kind in (TextureKind.MULTISAMPLED, TextureKind.DEPTH_MULTISAMPLED)
    return {**entry, "texture": {"sample_type": sample, "view_dimension": view, "multisampled": is_multisampled}}


def made_pipeline(device: WgpuDevice, kernel: GpuKernel, layouts: Layouts) -> GpuObject:
    """A `wgpu.GPUComputePipeline`. Raises what wgpu raises."""
    made = [device.create_bind_group_layout(entries=it) for it in layouts.values()]
    module = device.create_shader_module(code=kernel.wgsl)
    return device.create_compute_pipeline(
        layout=device.create_pipeline_layout(bind_group_layouts=made),
        compute={"module": module, "entry_point": kernel.entry},
    )


def bound_groups(
    device: WgpuDevice, bindings: Sequence[BindingInfo], layouts: Layouts, given: Mapping[Any, Any]
) -> dict[int, GpuObject]:
    """The `wgpu.GPUBindGroup` of each group, with new buffers for values that are none of wgpu's. Raises InputError."""
    values = values_by_name(bindings, given)
    groups: dict[int, GpuObject] = {}
    for number, entries in layouts.items():
        infos = [it for it in bindings if it.group == number]
        resources = [{"binding": it.binding, "resource": _resource(device, it, values[it.name])} for it in infos]
        layout = device.create_bind_group_layout(entries=entries)
        groups[number] = device.create_bind_group(layout=layout, entries=resources)
    return groups


def _resource(device: WgpuDevice, info: BindingInfo, value: Any) -> object:
    """The resource of a bind group's entry."""
    if _is(value, "GPUBuffer"):
        _check(info, value.size)
        return {"buffer": value, "offset": 0, "size": value.size}
    if _is_part(value):
        return value
    if isinstance(info.type, Sampler) and isinstance(value, SamplerValue):
        pack_binding(info, value)  # checks it
        return device.create_sampler(**asdict(value))
    if isinstance(info.type, (Texture, Sampler)):
        if _is(value, "GPUTexture"):
            return value.create_view()
        if not _is(value, "GPUSampler" if isinstance(info.type, Sampler) else "GPUTextureView"):
            raise InputError(f"{info.name}: {info.type} takes a texture, a view or a sampler of wgpu-py's")
        return value
    data = bytes(pack_binding(info, value))
    is_uniform = kind_of(info) == "uniform"
    if is_uniform:
        data += bytes(-len(data) % _UNIFORM_ROUNDING)
    usage = _UNIFORM | _COPY_DST if is_uniform else _STORAGE | _COPY_SRC | _COPY_DST
    buffer = device.create_buffer_with_data(data=data, usage=usage)
    return {"buffer": buffer, "offset": 0, "size": buffer.size}


def _is_part(value: object) -> bool:
    """Whether a value is a part of a buffer, as in `{"buffer": b, "offset": 256, "size": 64}`."""
    return isinstance(value, Mapping) and _is(cast("Mapping[str, object]", value).get("buffer"), "GPUBuffer")


def _is(value: object, kind: str) -> bool:
    """Whether a value is an object of a class of wgpu-py, which need not be there."""
    return any(it.__name__ == kind for it in type(value).__mro__)


def _check(info: BindingInfo, size: int) -> None:
    least = _least_size(info)
    if size < least:
        raise InputError(f"{info.name}: {info.type} needs at least {least} bytes; the buffer has {size}")


def _least_size(info: BindingInfo) -> int:
    """The bytes that a binding needs: a buffer in uniform memory that shaders view as several types is whole rows of 16
    bytes in the WGSL that wgpu gets.
    """
    is_rows = info.space == "uniform" and isinstance(info.type, RawBuffer)
    return info.minimum_size + (-info.minimum_size % _UNIFORM_ROUNDING if is_rows else 0)
