"""A dispatch on a GPU: the inputs of the device, and the workaround for drivers that end loops early."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .base.deadline import compiling_within
from .base.errors import DeviceError
from .compilation import Compilation
from .dispatch import Dispatch, Timing
from .ir.layout_sizes import is_in_rows, minimum_size
from .ir.samplers import read_sampler
from .ir.textures import storage_type
from .ir.types import BindingPoint, Sampler, Texture
from .pipeline import WORKGROUP_SIZE, GpuKernel, GpuOptions
from .reflection import BindingInfo

if TYPE_CHECKING:
    from .backend.gpu import AdapterInfo, Binding, BufferBinding, BufferKind, GpuDevice, GpuResult

_LEAST_SECONDS = 0.001
"""The time limit of an attempt when the time has expired: too short to succeed, so that it raises the timeout error."""


def run_on_gpu(dispatch: Dispatch, adapter: str = "", *, via_hercules: bool = False) -> Timing:
    """A WebGPU adapter, in a process of its own: the fastest, or what `adapter` names (see `backend.gpu.adapters`).

    The text for the adapter comes from core IR, or, `via_hercules`, from Hercules IR.

    On a driver that ends loops early (see `backend.gpu.faults`), kernels with long loops are watched. If a loop was
    cut, the dispatch runs again from its inputs, with loops that do several iterations in one, and later dispatches
    start with those. DeviceError if the driver would give a wrong answer all the same.
    """
    from .backend.gpu import DEFAULT_SECONDS, shared_device

    device = shared_device(adapter)
    warn_unless_webgpu(device.adapter())
    bind = memory_binding if via_hercules else gpu_binding
    given = [bind(it, dispatch.buffers[it.point]) for it in dispatch.bindings]
    check_filterable(device.adapter(), given)
    seconds = DEFAULT_SECONDS if dispatch.timeout is None else dispatch.timeout
    attempts = _Attempts(dispatch, device, given, seconds, via_hercules)
    result = attempts.run()
    for (group, binding), data in result.outputs.items():
        point = BindingPoint(group, binding)
        if point in dispatch.buffers:
            buffer = dispatch.buffers[point]
            buffer[:] = memoryview(data)[: len(buffer)]
    return Timing(attempts.compile_seconds, result.run_seconds)


@dataclass(slots=True)
class _Attempts:
    """A dispatch that may have to run again; `seconds` is the time left."""

    dispatch: Dispatch
    device: GpuDevice
    given: Sequence[Binding]
    seconds: float
    via_hercules: bool
    compile_seconds: float = 0.0

    def run(self) -> GpuResult:
        """The first result in which the driver cut no loop."""
        from .transforms.pipelines import LOOP_EFFORTS

        compilation = self.dispatch.compilation
        for effort in range(compilation.loop_effort, len(LOOP_EFFORTS)):
            kernel = self._made(effort)
            result = self._run_once(kernel)
            if kernel.watch is None or not is_cut(result.outputs[kernel.watch.group, kernel.watch.binding]):
                compilation.loop_effort = effort
                return result
        raise cut_error(self.device.adapter(), compilation.entry)

    def _made(self, effort: int) -> GpuKernel:
        start = time.perf_counter()
        kernel = kernel_for(
            self.device,
            self.dispatch.compilation,
            effort=effort,
            via_hercules=self.via_hercules,
            timeout=self.dispatch.timeout,
        )
        self.compile_seconds += time.perf_counter() - start
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

        storages = sum(it.kind != "uniform" for it in self.given if isinstance(it, BufferBinding))
        check_room_for_watch(self.device.adapter(), storages)
        return BufferBinding(point.group, point.binding, "storage", np.array(WATCH_BEFORE, np.uint32))


def kernel_for(
    device: GpuDevice, compilation: Compilation, *, effort: int, via_hercules: bool, timeout: float | None
) -> GpuKernel:
    """WGSL for a device, with the workaround against cut loops of that `effort` (see `GpuOptions`), compiled within
    `timeout` seconds. Raises ShaderError, and DeviceError for a device that lacks something, or whose driver would give
    wrong answers.
    """
    adapter = device.adapter()
    with compiling_within(timeout):
        kernel = compilation.for_gpu(options_for(adapter, effort=effort, via_hercules=via_hercules))
    if kernel.has_f16 and "shader-f16" not in adapter.features:
        raise DeviceError(f"not supported: f16 on {adapter.name}, which lacks shader-f16: '{kernel.entry}' enables it")
    check_nesting(adapter, kernel, compilation.entry)
    _check_limits(adapter, kernel, compilation.entry)
    if kernel.subgroup_size is not None:
        _check_subgroup_size(device, kernel.subgroup_size, compilation.entry)
    return kernel


def _check_limits(adapter: AdapterInfo, kernel: GpuKernel, name: str) -> None:
    """Raise DeviceError for an adapter whose workgroups have less than a kernel's, known to the user by `name`."""
    for limit, value in kernel.limits:
        most = adapter.limits[_kebab_case(limit)]
        if value > most:
            raise DeviceError(f"'{name}' needs {limit} of {value:,}, but {adapter.name} has {most:,}")


def _kebab_case(name: str) -> str:
    """The name that an adapter gives a limit of GPUSupportedLimits: `max-buffer-size` for `maxBufferSize`."""
    return re.sub("[A-Z]", lambda letter: f"-{letter[0].lower()}", name)


def _check_subgroup_size(device: GpuDevice, demanded: int, name: str) -> None:
    """Raise DeviceError for a device whose subgroups do not have the size that a shader demands: wgpu cannot choose."""
    adapter = device.adapter()
    if "subgroup" not in adapter.features:
        raise DeviceError(f"not supported: subgroups on {adapter.name}, which '{name}' uses")
    if device.subgroup_size != demanded:
        raise DeviceError(
            f"not supported: subgroups of {demanded} invocations, which '{name}' demands, on {adapter.name}, "
            f"where they have {device.subgroup_size}; by way of Hercules IR, any size will do"
        )


def options_for(
    adapter: AdapterInfo, *, effort: int, via_hercules: bool = False, workgroup_size: int = WORKGROUP_SIZE
) -> GpuOptions:
    """How WGSL is written for an adapter, with the workarounds for the faults of its driver."""
    from .backend.gpu import faults_of

    faults = faults_of(adapter)
    return GpuOptions(
        for_naga=True,
        loop_limit=faults.get("loop iterations"),
        loop_effort=effort,
        via_hercules=via_hercules,
        workgroup_size=workgroup_size,
        hides_uniforms="uniform values" in faults,
        shuffles_first="first broadcasts" in faults,
        unpacks_low="upper halves" in faults,
    )


def check_nesting(adapter: AdapterInfo, kernel: GpuKernel, name: str) -> None:
    """Raise DeviceError if the conditions of a kernel, known to the user by `name`, nest too deeply for a driver."""
    from .backend.gpu import faults_of

    deepest = faults_of(adapter).get("nesting")
    if deepest is not None and kernel.nesting > deepest:
        raise DeviceError(
            f"{adapter.name} gives wrong answers, without an error, where conditions nest in more "
            f"than {deepest} levels; those of '{name}' may come to {kernel.nesting}: "
            "run it on another device, or nest it less"
        )


def cut_error(adapter: AdapterInfo, name: str) -> DeviceError:
    """The error of a kernel or a function whose loops an adapter's driver ends early whatever the effort."""
    from .backend.gpu import faults_of

    return DeviceError(
        f"{adapter.name} ends every loop of an invocation after {faults_of(adapter)['loop iterations']:,} iterations "
        f"in all, without an error; '{name}' needs more, even with several iterations written as one: run it on "
        "another device, or spread its loops over several dispatches"
    )


def check_room_for_watch(adapter: AdapterInfo, storages: int) -> None:
    """Raise DeviceError if a kernel with so many storage buffers leaves none for the watch."""
    most = adapter.limits["max-storage-buffers-per-shader-stage"]
    if storages >= most:
        raise DeviceError(
            f"{adapter.name} may end loops early, and a kernel with {most} storage buffers leaves "
            "none for the watch: run it on another device"
        )


def is_cut(watch: bytes | bytearray) -> bool:
    """Whether the buffer of the watch says that the driver has cut a loop."""
    from .transforms.core.watch_loops import WATCH_CUT

    return bool(np.frombuffer(watch, np.uint32)[WATCH_CUT])


def warn_unless_webgpu(adapter: AdapterInfo) -> None:
    """Warn of a backend on which wgpu lacks parts of WebGPU."""
    if not adapter.is_webgpu:
        message = f"{adapter.name} runs by {adapter.backend}, which lacks parts of WebGPU: results may be wrong"
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def check_filterable(adapter: AdapterInfo, given: Sequence[Binding]) -> None:
    """Raise DeviceError for a sampler that filters beside a texture of f32 on an adapter that cannot filter f32."""
    from .backend.gpu import FILTERABLE, SamplerBinding, TextureBinding

    has_floats = any(isinstance(it, TextureBinding) and it.type.format is None and it.type.sampled for it in given)
    is_filtering = any(
        isinstance(it, SamplerBinding) and it.sampler.is_filtering and it.sampler.compare is None for it in given
    )
    if has_floats and is_filtering and FILTERABLE not in adapter.features:
        raise DeviceError(
            f"not supported: linear filters for textures of f32 on {adapter.name}, which lacks {FILTERABLE}"
        )


def gpu_binding(info: BindingInfo, data: bytes | bytearray | memoryview) -> Binding:
    """A binding as the GPU device takes it."""
    from .backend.gpu import BufferBinding, SamplerBinding, TextureBinding

    if isinstance(info.type, Sampler):
        return SamplerBinding(info.group, info.binding, read_sampler(data))
    if isinstance(info.type, Texture):
        return TextureBinding(info.group, info.binding, info.type, bytes(data))
    return BufferBinding(info.group, info.binding, kind_of(info), data)


def memory_binding(info: BindingInfo, data: bytes | bytearray | memoryview) -> BufferBinding:
    """A binding of a kernel that came from Hercules IR, in which a texture is memory with at least one texel."""
    from .backend.gpu import BufferBinding

    if isinstance(info.type, Texture):
        data = bytes(data).ljust(minimum_size(storage_type(info.type)), b"\0")
    return BufferBinding(info.group, info.binding, kind_of(info), data)


def kind_of(info: BindingInfo) -> BufferKind:
    """How a kernel binds a buffer. Uniform variables may be in storage (see `transforms.core.store_uniforms`)."""
    if info.space == "uniform" and is_in_rows(info.type):
        return "uniform"
    return "storage" if info.is_written else "read-only-storage"
