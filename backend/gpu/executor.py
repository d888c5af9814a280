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
from .adapters import ListedAdapter, choose
from .binding_headers import FILTERABLE, BindingHeader
from .clock import TICK, DeviceClock
from .driver_threads import DriverThreads
from .messages import AdapterReply, RunReply, RunRequest, interface_of, is_written
from .model import GpuError
from .program_messages import ProgramReply, ProgramRequest
from .program_run import ProgramRun
from .recorder import BoundPipeline, Entry, bind
from .resident_memory import ResidentMemory
from .resident_messages import ResidentReply, ResidentRequest
from .resources import Resource, layout_entry, upload
from .shared_bytes import Blob

_WANTED_FEATURES = (
    "shader-f16",
    "subgroup",
    "timestamp-query",
    "bgra8unorm-storage",
    "texture-adapter-specific-format-features",
    "texture-format16bit-norm",
    FILTERABLE,
)
_MOST_PIPELINES = 64


@dataclass(frozen=True)
class _Pipeline:
    """A compiled entry point with the layouts of bind groups 0, 1, … as the bindings given imply them."""

    handle: webgpu.Handle
    group_layouts: tuple[webgpu.Handle, ...]


class Executor:
    """One wgpu device, with every limit of its adapter, and its pipeline cache. `adapter` is as `choose` takes it."""

    def __init__(self, adapter: str) -> None:
        self._wgpu = webgpu.load()
        self._adapter = _find_adapter(self._wgpu, adapter)
        features = [name for name in _WANTED_FEATURES if name in self._adapter.features]
        self._device = self._adapter.request_device_sync(
            required_features=features, required_limits=self._adapter.limits
        )
        self._has_timestamps = "timestamp-query" in features
        self._tick = webgpu.timestamp_period(self._device.queue) * 1e-9 if self._has_timestamps else 0.0
        self._word: webgpu.Buffer | None = None
        self._pipelines: OrderedDict[object, _Pipeline] = OrderedDict()
        self._threads = DriverThreads() if self._adapter.info["adapter_type"] == "CPU" else None
        has_clock = self._has_timestamps and self._threads is None
        clock = DeviceClock(self._wgpu, self._device, self._tick) if has_clock else None
        self._resident = ResidentMemory(self._wgpu, self._device, self._pipeline_of, self._threads, clock)

    def describe(self) -> AdapterReply:
        """The adapter, with the features and limits of the device on it."""
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
        with self._rejections():
            start = time.perf_counter()
            pipeline, cached = self._pipeline(
                request["wgsl"], request["entry"], request["bindings"], request["constants"]
            )
            compile_seconds = 0.0 if cached else time.perf_counter() - start
            bindings: list[Resource] = []
            try:
                for header, blob in zip(request["bindings"], blobs, strict=True):
                    bindings.append(upload(self._wgpu, self._device, header, blob, request["repeat"]))
                samples = self._dispatch(pipeline, bindings, request)
                outputs = [binding.read_back() for binding in bindings if is_written(binding.header)]
            finally:
                for binding in bindings:
                    binding.destroy()
        return {
            "status": "ran",
            "compile_seconds": compile_seconds,
            "samples": samples,
            "timed_by": "timestamp" if self._has_timestamps else "wall",
        }, outputs

    def run_program(self, request: ProgramRequest, blobs: Sequence[Blob]) -> tuple[ProgramReply, list[memoryview]]:
        """Runs a program, and reads its outputs back."""
        compile_seconds = 0.0

        def pipeline_of(wgsl: str, entry: str, bindings: Sequence[BindingHeader]) -> _Pipeline:
            nonlocal compile_seconds
            start = time.perf_counter()
            pipeline, cached = self._pipeline(wgsl, entry, bindings, {})
            compile_seconds += 0.0 if cached else time.perf_counter() - start
            return pipeline

        run = ProgramRun(self._wgpu, self._device, request, self._threads)
        with self._rejections():
            try:
                run.prepare(blobs, pipeline_of)
                start = time.perf_counter()
                run.run()
                run_seconds = time.perf_counter() - start
                outputs = run.outputs()
            finally:
                run.destroy()
        return {"status": "program", "compile_seconds": compile_seconds, "run_seconds": run_seconds}, outputs

    def run_resident(self, request: ResidentRequest, blobs: Sequence[Blob]) -> tuple[ResidentReply, list[memoryview]]:
        """Carries out commands on what stays on the device."""
        with self._rejections():
            return {"status": "resident"}, self._resident.perform(request["commands"], blobs)

    @contextmanager
    def _rejections(self) -> Generator[None, None, None]:
        """Turns wgpu's validation errors into a GpuError with the part of the message that is about the shader."""
        try:
            yield
        except (self._wgpu.GPUValidationError, self._wgpu.GPUPipelineError) as error:
            raise GpuError("invalid", _strip_frame(str(error))) from error

    # Pipelines

    def _pipeline_of(self, wgsl: str, entry: str, bindings: Sequence[BindingHeader]) -> _Pipeline:
        return self._pipeline(wgsl, entry, bindings, {})[0]

    def _pipeline(
        self, wgsl: str, entry: str, bindings: Sequence[BindingHeader], constants: Mapping[str, float]
    ) -> tuple[_Pipeline, bool]:
        """The pipeline of an entry point, and whether it was in the cache."""
        interface = tuple(map(interface_of, bindings))
        key = (wgsl, entry, tuple(sorted(constants.items())), interface)
        if key in self._pipelines:
            self._pipelines.move_to_end(key)
            return self._pipelines[key], True
        pipeline = self._compile(wgsl, entry, constants, bindings)
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
        entries = [layout_entry(self._wgpu, self._device, binding) for binding in bindings if binding["group"] == group]
        return self._device.create_bind_group_layout(entries=entries)

    # Dispatch

    def _dispatch(self, pipeline: _Pipeline, bindings: Sequence[Resource], request: RunRequest) -> list[float]:
        """Runs every repeat; returns the seconds of each."""
        bound = bind(self._device, pipeline, map(_entry, bindings))
        if self._threads is not None:
            self._threads.spread()
        if not self._has_timestamps:
            return [self._timed_by_clock(bound, bindings, request) for _ in range(request["repeat"])]
        repeat = request["repeat"]
        queries = self._device.create_query_set(type="timestamp", count=2 * repeat)
        usage = self._wgpu.BufferUsage
        ticks = self._device.create_buffer(size=2 * repeat * TICK.itemsize, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)
        encoder = self._device.create_command_encoder()
        for index in range(repeat):
            for binding in bindings:
                binding.restore(encoder)
            writes = {
                "query_set": queries,
                "beginning_of_pass_write_index": 2 * index,
                "end_of_pass_write_index": 2 * index + 1,
            }
            _encode(encoder.begin_compute_pass(timestamp_writes=writes), bound, request["workgroups"])
        encoder.resolve_query_set(queries, 0, 2 * repeat, ticks, 0)
        self._device.queue.submit([encoder.finish()])
        stamps = np.frombuffer(self._device.queue.read_buffer(ticks), TICK).reshape(repeat, 2)
        ticks.destroy()
        return [float(end - begin) * self._tick if end > begin else 0.0 for begin, end in stamps.tolist()]

    def _timed_by_clock(self, bound: BoundPipeline, bindings: Sequence[Resource], request: RunRequest) -> float:
        """The seconds until the host knows that a dispatch is done, with the copy of a word that shows it."""
        queue = self._device.queue
        prepare = self._device.create_command_encoder()
        for binding in bindings:
            binding.restore(prepare)
        queue.submit([prepare.finish()])
        self._wait()
        encoder = self._device.create_command_encoder()
        _encode(encoder.begin_compute_pass(), bound, request["workgroups"])
        commands = encoder.finish()
        start = time.perf_counter()
        queue.submit([commands])
        self._wait()
        return time.perf_counter() - start

    def _wait(self) -> None:
        """Wait for all work that was submitted, by a read, since `on_submitted_work_done_sync` of wgpu 0.32 raises a
        TypeError.
        """
        if self._word is None:
            self._word = self._device.create_buffer(size=4, usage=self._wgpu.BufferUsage.COPY_SRC)
        self._device.queue.read_buffer(self._word)


def _find_adapter(wgpu: webgpu.WebGpu, wanted: str) -> webgpu.Adapter:
    adapters = wgpu.gpu.enumerate_adapters_sync()
    infos = [adapter.info for adapter in adapters]
    listed = [ListedAdapter(info["device"], info["backend_type"], info["adapter_type"]) for info in infos]
    return adapters[choose(listed, wanted)]


def _entry(binding: Resource) -> Entry:
    return Entry(binding.header["group"], binding.header["binding"], binding.descriptor())


def _encode(compute_pass: webgpu.ComputePass, bound: BoundPipeline, workgroups: tuple[int, int, int]) -> None:
    compute_pass.set_pipeline(bound.pipeline)
    for index, group in enumerate(bound.groups):
        compute_pass.set_bind_group(index, group)
    compute_pass.dispatch_workgroups(*workgroups)
    compute_pass.end()


def _strip_frame(message: str) -> str:
    """Wgpu's message without its headings and without lines that repeat another."""
    lines = [line.rstrip() for line in message.splitlines()]
    kept = [line for line in lines if not line.strip().startswith(("Validation Error", "Caused by:", "In wgpu"))]
    unique = [line for line, _ in groupby(line for line in kept if line)]
    return "\n".join(unique).strip() or message.strip()
