"""The devices a kernel can run on, behind one face."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from .compilation import Compilation, Timing
from .hints import unknown_name
from .ir.diagnostics import InputError
from .ir.types import BindingPoint, Texture
from .reflection import BindingInfo

if TYPE_CHECKING:
    from .backend.cpu import CompiledKernel
    from .backend.cpu.trial import Trial
    from .backend.gpu import AdapterInfo, BufferBinding, BufferKind, TextureBinding


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A kernel to run on buffers: the writable ones change in place.

    A dispatch that takes longer than `timeout` seconds, compiling aside, is stopped and raises DeviceError.
    """

    compilation: Compilation
    bindings: Sequence[BindingInfo]
    buffers: Mapping[BindingPoint, bytearray]
    workgroups: tuple[int, int, int]
    timeout: float | None = None
    contract: bool = False
    """Whether `a * b + c` may be rounded once; only the CPU can be asked for it."""
    is_trial: bool = True
    """Whether the CPU may run it on the code of first runs (see `backend.cpu.trial`)."""


Device: TypeAlias = Callable[[Dispatch], Timing]
"""Runs a dispatch. Raises ShaderError, InputError or DeviceError."""


def run_on_cpu(dispatch: Dispatch) -> Timing:
    """Machine code from LLVM on all cores."""
    start = time.perf_counter()
    compilation = dispatch.compilation
    trial = _trial_of(dispatch)
    compiled = time.perf_counter()
    if trial is not None and trial.run(_given(dispatch, trial.kernel), dispatch.workgroups, timeout=dispatch.timeout):
        return Timing(compiled - start, time.perf_counter() - compiled)
    kernel = compilation.cpu_contracted if dispatch.contract else compilation.cpu
    compiled = time.perf_counter()
    kernel.run(_given(dispatch, kernel), dispatch.workgroups, timeout=dispatch.timeout)
    return Timing(compiled - start, time.perf_counter() - compiled)


def _trial_of(dispatch: Dispatch) -> Trial | None:
    """What does it if it is one of the first runs."""
    from .backend.cpu.trial import MOST_WRITTEN

    if not dispatch.is_trial or dispatch.contract:
        return None
    written = sum(len(dispatch.buffers[info.point]) for info in dispatch.bindings if info.is_written)
    return dispatch.compilation.cpu_trial if written <= MOST_WRITTEN else None


def _given(dispatch: Dispatch, kernel: CompiledKernel) -> list[bytearray]:
    return [dispatch.buffers[slot.point] for slot in kernel.slots]


def run_interpreted(dispatch: Dispatch) -> Timing:
    """The reference interpreter of core IR: slow and exact."""
    from .ir.core.interp import run

    start = time.perf_counter()
    module = dispatch.compilation.specialised
    built = time.perf_counter()
    run(module, dispatch.compilation.entry, dispatch.buffers, dispatch.workgroups, timeout=dispatch.timeout)
    return Timing(built - start, time.perf_counter() - built)


def run_hercules(dispatch: Dispatch) -> Timing:
    """The reference interpreter of Hercules IR, on the graph that the CPU's code is made from."""
    from .ir.hercules.dispatch import run_entry_point

    start = time.perf_counter()
    entry = dispatch.compilation.hercules
    built = time.perf_counter()
    run_entry_point(entry, dispatch.buffers, dispatch.workgroups, timeout=dispatch.timeout)
    return Timing(built - start, time.perf_counter() - built)


def run_on_gpu(dispatch: Dispatch, adapter: str = "") -> Timing:
    """A WebGPU adapter, in a process of its own: the fastest, or what `adapter` names (see `backend.gpu.adapters`)."""
    from .backend.gpu import DEFAULT_SECONDS, shared_device

    device = shared_device(adapter)
    _warn_unless_webgpu(device.adapter())
    start = time.perf_counter()
    wgsl = dispatch.compilation.wgsl_for_naga
    written = time.perf_counter()
    given = [gpu_binding(info, bytes(dispatch.buffers[info.point])) for info in dispatch.bindings]
    seconds = DEFAULT_SECONDS if dispatch.timeout is None else dispatch.timeout
    result = device.run(wgsl, dispatch.compilation.entry, given, dispatch.workgroups, timeout=seconds)
    for (group, binding), data in result.outputs.items():
        dispatch.buffers[BindingPoint(group, binding)][:] = data
    return Timing(written - start + result.compile_seconds, result.run_seconds)


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


def _kind(info: BindingInfo) -> BufferKind:
    if info.space == "uniform":
        return "uniform"
    return "storage" if info.is_written else "read-only-storage"


DEVICES: dict[str, Device] = {
    "cpu": run_on_cpu,
    "gpu": run_on_gpu,
    "interp": run_interpreted,
    "hercules": run_hercules,
}
"""All devices by name; `interp` and `hercules` are the interpreters of core IR and of Hercules IR."""

_GPU_PREFIX = "gpu:"


def device_named(name: str) -> Device:
    """The device of that name, one of `DEVICES` or `gpu:ADAPTER`. Raises InputError."""
    if name in DEVICES:
        return DEVICES[name]
    adapter = adapter_named(name)
    if adapter is None:
        raise InputError(unknown_name(f"no device is named {name!r}", name, DEVICES))
    return partial(run_on_gpu, adapter=adapter)


def adapter_named(name: str) -> str | None:
    """Which GPU adapter a device's name asks for: "" is any, None means that the device is no GPU."""
    if name == "gpu":
        return ""
    adapter = name.removeprefix(_GPU_PREFIX).strip()
    return adapter if name.startswith(_GPU_PREFIX) and adapter and adapter.isprintable() else None
