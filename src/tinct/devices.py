"""The devices a kernel can run on, behind one face."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from .compilation import Timing
from .dispatch import Dispatch
from .gpu import run_on_gpu
from .hints import unknown_name
from .ir.deadline import compiling_within
from .ir.diagnostics import InputError

if TYPE_CHECKING:
    from .backend.cpu import CompiledKernel
    from .backend.cpu.trial import Trial


Device: TypeAlias = Callable[[Dispatch], Timing]
"""Runs a dispatch. Raises ShaderError, InputError or DeviceError."""


def run_on_cpu(dispatch: Dispatch) -> Timing:
    """Machine code from LLVM on all cores."""
    start = time.perf_counter()
    compilation = dispatch.compilation
    with compiling_within(dispatch.timeout):
        trial = _trial_of(dispatch)
    compiled = time.perf_counter()
    if trial is not None and trial.run(_given(dispatch, trial.kernel), dispatch.workgroups, timeout=dispatch.timeout):
        return Timing(compiled - start, time.perf_counter() - compiled)
    with compiling_within(dispatch.timeout):
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
    with compiling_within(dispatch.timeout):
        module = dispatch.compilation.specialised
    built = time.perf_counter()
    run(module, dispatch.compilation.entry, dispatch.buffers, dispatch.workgroups, timeout=dispatch.timeout)
    return Timing(built - start, time.perf_counter() - built)


def run_hercules(dispatch: Dispatch) -> Timing:
    """The reference interpreter of Hercules IR, on the graph that the CPU's code is made from."""
    from .ir.hercules.dispatch import run_entry_point

    start = time.perf_counter()
    with compiling_within(dispatch.timeout):
        entry = dispatch.compilation.hercules
    built = time.perf_counter()
    run_entry_point(entry, dispatch.buffers, dispatch.workgroups, timeout=dispatch.timeout)
    return Timing(built - start, time.perf_counter() - built)


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
