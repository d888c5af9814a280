"""A dispatch on a GPU: the inputs of the device, and the workaround for drivers that end loops early."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .base.deadline import compiling_within
from .base.errors import DeviceError
from .dispatch import Dispatch, Timing
from .ir.layout_sizes import minimum_size
from .ir.textures import storage_type
from .ir.types import BindingPoint, Texture
from .pipeline import GpuKernel, GpuOptions
from .reflection import BindingInfo

if TYPE_CHECKING:
    from .backend.gpu import AdapterInfo, BufferBinding, BufferKind, FaultKind, GpuDevice, GpuResult, TextureBinding

_LEAST_SECONDS = 0.001
"""The time limit of an attempt when the time has expired: too short to succeed, so that it raises the timeout error."""


def run_on_gpu(dispatch: Dispatch, adapter: str = "", *, via_hercules: bool = False) -> Timing:
    """A WebGPU adapter, in a process of its own: the fastest, or what `adapter` names (see `backend.gpu.adapters`).

    The text for the adapter comes from core IR, or, `via_hercules`, from Hercules IR.

    On a driver that ends loops early (see `backend.gpu.faults`), kernels with long loops are watched. If a loop was
    cut, the dispatch runs again from its inputs, with loops that do several iterations in one, and later dispatches
    start with those. DeviceError if the driver would give a wrong answer all the same.
    """
    from .backend.gpu import DEFAULT_SECONDS, faults_of, shared_device

    device = shared_device(adapter)
    info = device.adapter()
    _warn_unless_webgpu(info)
    bind = memory_binding if via_hercules else gpu_binding
    given = [bind(it, bytes(dispatch.buffers[it.point])) for it in dispatch.bindings]
    seconds = DEFAULT_SECONDS if dispatch.timeout is None else dispatch.timeout
    attempts = _Attempts(dispatch, device, faults_of(info), given, seconds, via_hercules)
    result = attempts.run()
    for (group, binding), data in result.outputs.items():
        point = BindingPoint(group, binding)
        if point in dispatch.buffers:
            buffer = dispatch.buffers[point]
            buffer[:] = data[: len(buffer)]
    return Timing(attempts.compile_seconds, result.run_seconds)


@dataclass(slots=True)
class _Attempts:
    """A dispatch that may have to run again; `seconds` is the time left."""

    dispatch: Dispatch
    device: GpuDevice
    faults: Mapping[FaultKind, int]
    given: Sequence[BufferBinding | TextureBinding]
    seconds: float
    via_hercules: bool
    compile_seconds: float = 0.0

    def run(self) -> GpuResult:
        """The first result in which the driver cut no loop."""
        from .transforms.pipelines import LOOP_EFFORTS

        compilation, limit = self.dispatch.compilation, self.faults.get("loop iterations")
        for effort in range(compilation.loop_effort, len(LOOP_EFFORTS)):
            kernel = self._made(limit, effort)
            result = self._run_once(kernel)
            if kernel.watch is None or not _is_cut(result, kernel.watch):
                compilation.loop_effort = effort
                return result
        raise DeviceError(
            f"{self.device.adapter().name} ends every loop of an invocation after {limit:,} iterations in all, without "
            f"an error; '{compilation.entry}' needs more, even with several iterations written as one: run it on "
            "another device, or spread its loops over several dispatches"
        )

    def _made(self, loop_limit: int | None, effort: int) -> GpuKernel:
        start = time.perf_counter()
        options = GpuOptions(
            for_naga=True,
            loop_limit=loop_limit,
            loop_effort=effort,
            via_hercules=self.via_hercules,
            hides_uniforms="uniform values" in self.faults,
        )
        with compiling_within(self.dispatch.timeout):
            kernel = self.dispatch.compilation.for_gpu(options)
        self.compile_seconds += time.perf_counter() - start
        adapter = self.device.adapter()
        if kernel.has_f16 and "shader-f16" not in adapter.features:
            raise DeviceError(
                f"not supported: f16 on {adapter.name}, which lacks shader-f16: '{kernel.entry}' enables it"
            )
        deepest = self.faults.get("nesting")
        if deepest is not None and kernel.nesting > deepest:
            raise DeviceError(
                f"{self.device.adapter().name} gives wrong answers, without an error, where conditions nest in more "
                f"than {deepest} levels; those of '{self.dispatch.compilation.entry}' may come to {kernel.nesting}: "
                "run it on another device, or nest it less"
            )
        return kernel

    def _run_once(self, kernel: GpuKernel) -> GpuResult:
        given = self.given if kernel.watch is None else [*self.given, self._watch_buffer(kernel.watch)]
        entry, start = self.dispatch.compilation.entry, time.monotonic()
        result = self.device.run(kernel.wgsl, entry, given, self.dispatch.workgroups, timeout=self.seconds)
        self.seconds = max(self.seconds - (time.monotonic() - start), _LEAST_SECONDS)
        self.compile_seconds += result.compile_seconds
        return result

    def _watch_buffer(self, point: BindingPoint) -> BufferBinding:
        """The buffer of the watch. Raises DeviceError if the adapter allows no further buffer."""
        from .backend.gpu import BufferBinding
        from .transforms.core.watch_loops import WATCH_BEFORE

        most = self.device.adapter().limits["max-storage-buffers-per-shader-stage"]
        if sum(it.kind != "uniform" for it in self.given if isinstance(it, BufferBinding)) >= most:
            raise DeviceError(
                f"{self.device.adapter().name} may end loops early, and a kernel with {most} storage buffers leaves "
                "none for the watch: run it on another device"
            )
        return BufferBinding(point.group, point.binding, "storage", np.array(WATCH_BEFORE, np.uint32))


def _is_cut(result: GpuResult, watch: BindingPoint) -> bool:
    from .transforms.core.watch_loops import WATCH_CUT

    words = np.frombuffer(result.outputs[watch.group, watch.binding], np.uint32)
    return bool(words[WATCH_CUT])


def _warn_unless_webgpu(adapter: AdapterInfo) -> None:
    if not adapter.is_webgpu:
        message = f"{adapter.name} runs by {adapter.backend}, which lacks parts of WebGPU: results may be wrong"
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def gpu_binding(info: BindingInfo, data: bytes) -> BufferBinding | TextureBinding:
    """A binding as the GPU device takes it."""
    from .backend.gpu import BufferBinding, TextureBinding

    if isinstance(info.type, Texture):
        return TextureBinding(info.group, info.binding, info.type, data)
    return BufferBinding(info.group, info.binding, _kind(info), data)


def memory_binding(info: BindingInfo, data: bytes) -> BufferBinding:
    """A binding of a kernel that came from Hercules IR, in which a texture is memory with at least one texel."""
    from .backend.gpu import BufferBinding

    if isinstance(info.type, Texture):
        data = data.ljust(minimum_size(storage_type(info.type)), b"\0")
    return BufferBinding(info.group, info.binding, _kind(info), data)


def _kind(info: BindingInfo) -> BufferKind:
    if info.space == "uniform":
        return "uniform"
    return "storage" if info.is_written else "read-only-storage"
