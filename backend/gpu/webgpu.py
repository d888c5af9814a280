"""The part of wgpu-py that the executor uses, as protocols: wgpu ships no type information of its own.

Only the worker process calls `load`; nothing else in tinct imports wgpu.
"""

# ruff: noqa: D101, D102 (the names are WebGPU's, and its specification describes them)

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Final, Protocol, TypeAlias, TypedDict, cast

Descriptor: TypeAlias = Mapping[str, object]


class Buffer(Protocol):
    @property
    def size(self) -> int: ...
    def destroy(self) -> None: ...


class Handle(Protocol):
    """An object that is only passed on: a module, a layout, a pipeline, a bind group, a query set, a command buffer."""

    @property
    def label(self) -> str: ...


class Texture(Protocol):
    def create_view(
        self,
        *,
        dimension: str,
        base_mip_level: int = 0,
        mip_level_count: int | None = None,
        base_array_layer: int = 0,
        array_layer_count: int | None = None,
    ) -> Handle: ...
    def destroy(self) -> None: ...


class ComputePass(Protocol):
    def set_pipeline(self, pipeline: Handle) -> None: ...
    def set_bind_group(self, index: int, bind_group: Handle) -> None: ...
    def dispatch_workgroups(self, x: int, y: int, z: int) -> None: ...
    def dispatch_workgroups_indirect(self, indirect_buffer: Buffer, indirect_offset: int) -> None: ...
    def end(self) -> None: ...


class RenderPipeline(Handle, Protocol):
    def get_bind_group_layout(self, index: int) -> Handle: ...


class RenderPass(Protocol):
    def set_pipeline(self, pipeline: Handle) -> None: ...
    def set_bind_group(self, index: int, bind_group: Handle) -> None: ...
    def draw(self, vertex_count: int, instance_count: int = 1) -> None: ...
    def end(self) -> None: ...


class Attachments(TypedDict):
    """What a render pass draws into."""

    color_attachments: Sequence[Descriptor]
    depth_stencil_attachment: Descriptor | None


class CommandEncoder(Protocol):
    def begin_render_pass(
        self, *, color_attachments: Sequence[Descriptor], depth_stencil_attachment: Descriptor | None
    ) -> RenderPass: ...
    def begin_compute_pass(self, *, timestamp_writes: Descriptor | None = None) -> ComputePass: ...
    def copy_buffer_to_buffer(
        self, source: Buffer, source_offset: int, target: Buffer, target_offset: int, size: int
    ) -> None: ...
    def copy_texture_to_texture(
        self, source: Descriptor, target: Descriptor, size: tuple[int, int, int], /
    ) -> None: ...
    def clear_buffer(self, buffer: Buffer, offset: int = 0, size: int | None = None) -> None: ...
    def resolve_query_set(self, queries: Handle, first: int, count: int, target: Buffer, offset: int) -> None: ...
    def finish(self) -> Handle: ...


class Queue(Protocol):
    def submit(self, command_buffers: Sequence[Handle]) -> None: ...
    def write_buffer(self, buffer: Buffer, buffer_offset: int, data: bytes | bytearray | memoryview) -> None: ...
    def read_buffer(self, buffer: Buffer, buffer_offset: int = 0, size: int | None = None) -> memoryview: ...
    def write_texture(
        self, destination: Descriptor, data: memoryview, data_layout: Descriptor, size: tuple[int, int, int]
    ) -> None: ...
    def read_texture(self, source: Descriptor, data_layout: Descriptor, size: tuple[int, int, int]) -> memoryview: ...


class Device(Protocol):
    @property
    def queue(self) -> Queue: ...
    @property
    def features(self) -> set[str]: ...
    @property
    def limits(self) -> Mapping[str, int]: ...
    def create_shader_module(self, *, code: str) -> Handle: ...
    def create_bind_group_layout(self, *, entries: Sequence[Descriptor]) -> Handle: ...
    def create_bind_group(self, *, layout: Handle, entries: Sequence[Descriptor]) -> Handle: ...
    def create_pipeline_layout(self, *, bind_group_layouts: Sequence[Handle]) -> Handle: ...
    def create_compute_pipeline(self, *, layout: Handle, compute: Descriptor) -> Handle: ...
    def create_buffer(self, *, size: int, usage: int) -> Buffer: ...
    def create_buffer_with_data(self, *, data: bytes | bytearray | memoryview, usage: int) -> Buffer: ...
    def create_texture(
        self,
        *,
        size: tuple[int, int, int],
        mip_level_count: int,
        dimension: str,
        format: str,
        usage: int,
        sample_count: int = 1,
    ) -> Texture: ...
    def create_sampler(self, **descriptor: object) -> Handle: ...
    def create_render_pipeline(
        self,
        *,
        layout: str,
        vertex: Descriptor,
        fragment: Descriptor,
        depth_stencil: Descriptor | None = None,
        multisample: Descriptor | None = None,
    ) -> RenderPipeline: ...
    def create_query_set(self, *, type: str, count: int) -> Handle: ...
    def create_command_encoder(self) -> CommandEncoder: ...


class Adapter(Protocol):
    @property
    def info(self) -> Mapping[str, str]: ...
    @property
    def features(self) -> set[str]: ...
    @property
    def limits(self) -> Mapping[str, int]: ...
    def request_device_sync(
        self, *, required_features: Sequence[str], required_limits: Mapping[str, int]
    ) -> Device: ...


class Gpu(Protocol):
    def enumerate_adapters_sync(self) -> list[Adapter]: ...


class BufferUsage(Protocol):
    """Bit flags of WebGPU's GPUBufferUsage."""

    UNIFORM: int
    STORAGE: int
    COPY_SRC: int
    COPY_DST: int
    INDIRECT: int
    QUERY_RESOLVE: int


class TextureUsage(Protocol):
    """Bit flags of WebGPU's GPUTextureUsage."""

    STORAGE_BINDING: int
    TEXTURE_BINDING: int
    RENDER_ATTACHMENT: int
    COPY_SRC: int
    COPY_DST: int


class ShaderStage(Protocol):
    """Bit flags of WebGPU's GPUShaderStage."""

    COMPUTE: int


class WebGpu(Protocol):
    """The module `wgpu`."""

    gpu: Gpu
    BufferUsage: BufferUsage
    TextureUsage: TextureUsage
    ShaderStage: ShaderStage
    GPUValidationError: type[Exception]
    GPUPipelineError: type[Exception]


class NativeLibrary(Protocol):
    """The functions of wgpu-native that are called without wgpu-py's layer. They take its handles."""

    def wgpuQueueGetTimestampPeriod(self, queue: object, /) -> float: ...
    def wgpuComputePassEncoderSetBindGroup(
        self, encoder: object, index: int, group: object, offsets: int, first_offset: object, /
    ) -> None: ...
    def wgpuComputePassEncoderDispatchWorkgroups(self, encoder: object, x: int, y: int, z: int, /) -> None: ...


class ForeignFunctions(Protocol):
    """cffi's `FFI`."""

    NULL: object


_handle: Final[Callable[[object], object]] = attrgetter("_internal")
"""The handle of wgpu-native in an object of wgpu-py."""


def load() -> WebGpu:
    """Imports wgpu (50 ms; the adapter and device cost ten times as much)."""
    return cast(WebGpu, importlib.import_module("wgpu"))


def timestamp_period(queue: Queue) -> float:
    """Nanoseconds per tick of a timestamp query, which wgpu-native leaves unscaled."""
    return _native()[0].wgpuQueueGetTimestampPeriod(_handle(queue))


class DirectPass:
    """A compute pass whose bind groups and dispatches go to wgpu-native, in a quarter of the time wgpu-py takes.

    wgpu-py looks for an error after each call. wgpu-native reports what a pass does wrong when its encoder is finished,
    where wgpu-py raises it. Bind groups must live until then.
    """

    def __init__(self, compute_pass: ComputePass) -> None:
        library, functions = _native()
        handle = _handle(compute_pass)
        self.set_pipeline = compute_pass.set_pipeline
        self._set_bind_group = partial(library.wgpuComputePassEncoderSetBindGroup, handle)
        self._no_offset = functions.NULL
        self.dispatch_workgroups = partial(library.wgpuComputePassEncoderDispatchWorkgroups, handle)
        self.dispatch_workgroups_indirect = compute_pass.dispatch_workgroups_indirect
        self.end = compute_pass.end

    def set_bind_group(self, index: int, bind_group: Handle) -> None:
        """Set a bind group without dynamic offsets."""
        self._set_bind_group(index, _handle(bind_group), 0, self._no_offset)


def _native() -> tuple[NativeLibrary, ForeignFunctions]:
    module = importlib.import_module("wgpu.backends.wgpu_native")
    return cast(NativeLibrary, module.lib), cast(ForeignFunctions, module.ffi)
