"""Runs final WGSL on wgpu. Lives in the worker process only: a call here may abort the process or never return."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from . import webgpu
from .messages import AdapterReply, BindingHeader, Blob, RunReply, RunRequest
from .model import GpuError

_WANTED_FEATURES = ("shader-f16", "subgroup", "timestamp-query")
_MOST_PIPELINES = 64
_MOST_REPEATS = 1024
_TICK = np.dtype("<u8")
_UNIFORM_ROUNDING = 16

_BUFFER_LIMIT = {
    "uniform": "max-uniform-buffer-binding-size",
    "storage": "max-storage-buffer-binding-size",
    "read-only-storage": "max-storage-buffer-binding-size",
}


@dataclass(frozen=True)
class _Pipeline:
    """A compiled entry point with the layouts of bind groups 0, 1, … as the bindings given imply them."""

    handle: webgpu.Handle
    group_layouts: tuple[webgpu.Handle, ...]


@dataclass(frozen=True)
class _Binding:
    """A binding on the device. `pristine` keeps the input of a writable one, so that each repeat starts from it."""

    header: BindingHeader
    size: int
    buffer: webgpu.Buffer
    pristine: webgpu.Buffer | None


class Executor:
    """One wgpu device, with every limit of its adapter, and its pipeline cache."""

    def __init__(self) -> None:
        self._wgpu = webgpu.load()
        self._adapter = _request_adapter(self._wgpu)
        features = [name for name in _WANTED_FEATURES if name in self._adapter.features]
        self._device = self._adapter.request_device_sync(
            required_features=features, required_limits=self._adapter.limits
        )
        self._has_timestamps = "timestamp-query" in features
        self._tick = webgpu.timestamp_period(self._device.queue) * 1e-9 if self._has_timestamps else 0.0
        self._pipelines: OrderedDict[object, _Pipeline] = OrderedDict()

    def describe(self) -> AdapterReply:
        """The adapter, and what the device made on it may do."""
        info = self._adapter.info
        return {
            "status": "adapter",
            "name": info["device"],
            "description": info["description"],
            "vendor": info["vendor"],
            "backend": info["backend_type"],
            "kind": info["adapter_type"],
            "features": sorted(self._device.features),
            "limits": dict(self._device.limits),
        }

    def validate(self, wgsl: str) -> None:
        """Raises a GpuError of kind "invalid" with naga's message when the module is not accepted."""
        with self._rejections():
            self._device.create_shader_module(code=wgsl)

    def run(self, request: RunRequest, blobs: Sequence[Blob]) -> tuple[RunReply, list[memoryview]]:
        """Dispatches `repeat` times, each on fresh inputs, and reads the writable bindings back."""
        self._check_limits(request, blobs)
        with self._rejections():
            start = time.perf_counter()
            pipeline, cached = self._pipeline(request)
            compile_seconds = 0.0 if cached else time.perf_counter() - start
            bindings = self._upload_all(request, blobs)
            try:
                samples = self._dispatch(pipeline, bindings, request)
                outputs = [self._read_back(binding) for binding in bindings if binding.header["kind"] == "storage"]
            finally:
                _destroy(bindings)
        return {
            "status": "ran",
            "compile_seconds": compile_seconds,
            "samples": samples,
            "timed_by": "timestamp" if self._has_timestamps else "wall",
        }, outputs

    def _check_limits(self, request: RunRequest, blobs: Sequence[Blob]) -> None:
        """Says in our own words what wgpu would reject in its."""
        limits = self._device.limits
        most = limits["max-compute-workgroups-per-dimension"]
        for axis, count in zip("xyz", request["workgroups"], strict=True):
            if count > most:
                raise GpuError("limit", f"{count} workgroups along {axis}; this adapter allows {most}")
        if request["repeat"] > _MOST_REPEATS:
            raise GpuError("limit", f"{request['repeat']} repeats in one call; at most {_MOST_REPEATS} are possible")
        for header, blob in zip(request["bindings"], blobs, strict=True):
            allowed = min(limits[_BUFFER_LIMIT[header["kind"]]], limits["max-buffer-size"])
            if len(blob) > allowed:
                place = f"@group({header['group']}) @binding({header['binding']})"
                size = f"the {header['kind']} buffer at {place} has {len(blob)} bytes"
                raise GpuError("limit", f"{size}; this adapter allows {allowed}")

    @contextmanager
    def _rejections(self) -> Generator[None, None, None]:
        """Turns wgpu's validation errors into a GpuError with the part of the message that speaks of the shader."""
        try:
            yield
        except (self._wgpu.GPUValidationError, self._wgpu.GPUPipelineError) as error:
            raise GpuError("invalid", _strip_frame(str(error))) from error

    # Pipelines

    def _pipeline(self, request: RunRequest) -> tuple[_Pipeline, bool]:
        """The pipeline of a request, and whether it was in the cache."""
        interface = tuple((b["group"], b["binding"], b["kind"]) for b in request["bindings"])
        key = (request["wgsl"], request["entry"], tuple(sorted(request["constants"].items())), interface)
        if key in self._pipelines:
            self._pipelines.move_to_end(key)
            return self._pipelines[key], True
        pipeline = self._compile(request["wgsl"], request["entry"], request["constants"], request["bindings"])
        self._pipelines[key] = pipeline
        if len(self._pipelines) > _MOST_PIPELINES:
            self._pipelines.popitem(last=False)
        return pipeline, False

    def _compile(
        self, wgsl: str, entry: str, constants: Mapping[str, float], bindings: Sequence[BindingHeader]
    ) -> _Pipeline:
        """Compiles with explicit layouts, since automatic ones lack the bindings that the entry point does not use."""
        group_count = 1 + max((binding["group"] for binding in bindings), default=-1)
        layouts = tuple(self._group_layout(bindings, group) for group in range(group_count))
        handle = self._device.create_compute_pipeline(
            layout=self._device.create_pipeline_layout(bind_group_layouts=layouts),
            compute={
                "module": self._device.create_shader_module(code=wgsl),
                "entry_point": entry,
                "constants": dict(constants),
            },
        )
        return _Pipeline(handle, layouts)

    def _group_layout(self, bindings: Sequence[BindingHeader], group: int) -> webgpu.Handle:
        entries = [
            {
                "binding": binding["binding"],
                "visibility": self._wgpu.ShaderStage.COMPUTE,
                "buffer": {"type": binding["kind"]},
            }
            for binding in bindings
            if binding["group"] == group
        ]
        return self._device.create_bind_group_layout(entries=entries)

    # Buffers

    def _upload_all(self, request: RunRequest, blobs: Sequence[Blob]) -> list[_Binding]:
        pairs = zip(request["bindings"], blobs, strict=True)
        return [self._upload(header, blob, request["repeat"]) for header, blob in pairs]

    def _upload(self, header: BindingHeader, blob: Blob, repeat: int) -> _Binding:
        usage = self._wgpu.BufferUsage
        data = _padded(header, blob)
        if header["kind"] == "uniform":
            return _Binding(header, len(blob), self._buffer(data, usage.UNIFORM), None)
        buffer = self._buffer(data, usage.STORAGE | usage.COPY_SRC | usage.COPY_DST)
        restores = header["kind"] == "storage" and repeat > 1
        return _Binding(header, len(blob), buffer, self._buffer(data, usage.COPY_SRC) if restores else None)

    def _buffer(self, data: Blob, usage: int) -> webgpu.Buffer:
        return self._device.create_buffer_with_data(data=data, usage=usage)

    def _read_back(self, binding: _Binding) -> memoryview:
        return self._device.queue.read_buffer(binding.buffer)[: binding.size]

    # Dispatch

    def _dispatch(self, pipeline: _Pipeline, bindings: Sequence[_Binding], request: RunRequest) -> list[float]:
        """Runs every repeat; returns the seconds of each."""
        groups = self._bind_groups(pipeline, bindings)
        if not self._has_timestamps:
            return [self._timed_by_clock(pipeline, groups, bindings, request) for _ in range(request["repeat"])]
        repeat = request["repeat"]
        queries = self._device.create_query_set(type="timestamp", count=2 * repeat)
        usage = self._wgpu.BufferUsage
        ticks = self._device.create_buffer(size=2 * repeat * _TICK.itemsize, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)
        encoder = self._device.create_command_encoder()
        for index in range(repeat):
            _restore(encoder, bindings)
            writes = {
                "query_set": queries,
                "beginning_of_pass_write_index": 2 * index,
                "end_of_pass_write_index": 2 * index + 1,
            }
            _encode(encoder.begin_compute_pass(timestamp_writes=writes), pipeline, groups, request["workgroups"])
        encoder.resolve_query_set(queries, 0, 2 * repeat, ticks, 0)
        self._device.queue.submit([encoder.finish()])
        stamps = np.frombuffer(self._device.queue.read_buffer(ticks), _TICK).reshape(repeat, 2)
        ticks.destroy()
        return [float(end - begin) * self._tick if end > begin else 0.0 for begin, end in stamps.tolist()]

    def _timed_by_clock(
        self,
        pipeline: _Pipeline,
        groups: Sequence[webgpu.Handle],
        bindings: Sequence[_Binding],
        request: RunRequest,
    ) -> float:
        queue = self._device.queue
        prepare = self._device.create_command_encoder()
        _restore(prepare, bindings)
        queue.submit([prepare.finish()])
        queue.on_submitted_work_done_sync()
        encoder = self._device.create_command_encoder()
        _encode(encoder.begin_compute_pass(), pipeline, groups, request["workgroups"])
        commands = encoder.finish()
        start = time.perf_counter()
        queue.submit([commands])
        queue.on_submitted_work_done_sync()
        return time.perf_counter() - start

    def _bind_groups(self, pipeline: _Pipeline, bindings: Sequence[_Binding]) -> list[webgpu.Handle]:
        entries: list[list[webgpu.Descriptor]] = [[] for _ in pipeline.group_layouts]
        for binding in bindings:
            resource = {"buffer": binding.buffer, "offset": 0, "size": binding.buffer.size}
            entries[binding.header["group"]].append({"binding": binding.header["binding"], "resource": resource})
        return [
            self._device.create_bind_group(layout=layout, entries=group)
            for layout, group in zip(pipeline.group_layouts, entries, strict=True)
        ]


def _request_adapter(wgpu: webgpu.WebGpu) -> webgpu.Adapter:
    try:
        adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    except RuntimeError as error:
        raise GpuError("unavailable", f"no adapter answers: {error}") from error
    if adapter is None:
        raise GpuError("unavailable", "no adapter answers")
    return adapter


def _padded(header: BindingHeader, blob: Blob) -> Blob:
    """The bytes rounded up to what WebGPU can bind: some multiple of 4, but not 0; for uniforms, whole rows of 16."""
    rounding = _UNIFORM_ROUNDING if header["kind"] == "uniform" else 4
    missing = -len(blob) % rounding if len(blob) else rounding
    return blob if missing == 0 else bytes(blob) + bytes(missing)


def _restore(encoder: webgpu.CommandEncoder, bindings: Sequence[_Binding]) -> None:
    for binding in bindings:
        if binding.pristine is not None:
            encoder.copy_buffer_to_buffer(binding.pristine, 0, binding.buffer, 0, binding.buffer.size)


def _encode(
    compute_pass: webgpu.ComputePass,
    pipeline: _Pipeline,
    groups: Sequence[webgpu.Handle],
    workgroups: tuple[int, int, int],
) -> None:
    compute_pass.set_pipeline(pipeline.handle)
    for index, group in enumerate(groups):
        compute_pass.set_bind_group(index, group)
    compute_pass.dispatch_workgroups(*workgroups)
    compute_pass.end()


def _destroy(bindings: Sequence[_Binding]) -> None:
    for binding in bindings:
        binding.buffer.destroy()
        if binding.pristine is not None:
            binding.pristine.destroy()


def _strip_frame(message: str) -> str:
    """Wgpu's message without its headings and without lines that repeat another."""
    lines = [line.rstrip() for line in message.splitlines()]
    kept = [line for line in lines if not line.strip().startswith(("Validation Error", "Caused by:", "In wgpu"))]
    unique = [line for line, _ in groupby(line for line in kept if line)]
    return "\n".join(unique).strip() or message.strip()
