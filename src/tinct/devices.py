"""The devices a kernel can run on, behind one interface."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import TypeAlias

from .base.deadline import compiling_within
from .base.errors import InputError
from .base.in_time import import_in_time
from .dispatch import Dispatch, Timing
from .ir.hints import unknown_name

Device: TypeAlias = Callable[[Dispatch], Timing]
"""Runs a dispatch. Raises ShaderError, InputError or DeviceError."""


def check_contract(device: str, *, contract: bool) -> None:
    """Raise InputError where products and sums are to be fused on a device that decides so by itself."""
    if contract and device != "cpu":
        raise InputError(f"contract is for the device 'cpu', not {device!r}")


def run_on_cpu(dispatch: Dispatch) -> Timing:
    """Machine code from LLVM on all cores, or, for the first tiny dispatches, the interpreter with the same results."""
    compilation, written = dispatch.compilation.suited_to(dispatch.facts), dispatch.written
    first = compilation.first_calls if dispatch.may_be_interpreted else None
    seconds = None if first is None else first.run(dispatch.buffers, written, dispatch.workgroups)
    if seconds is not None:
        return Timing(0.0, seconds)

    import_in_time(f"{__package__}.backend.cpu.tiered")
    from .backend.cpu.tiered import CpuDispatch

    job = CpuDispatch(
        dispatch.buffers, written, dispatch.workgroups, dispatch.timeout, dispatch.contract, dispatch.is_trial
    )
    times = compilation.machine_code.run(job)
    return Timing(times.compile, times.run, times.is_cached)


def run_on_gpu(dispatch: Dispatch, adapter: str = "", *, via_hercules: bool = False) -> Timing:
    """WebGPU, in a process of its own: any adapter, or the one that is named."""
    import_in_time(f"{__package__}.gpu", f"{__package__}.backend.gpu")
    from .gpu import run_on_gpu

    return run_on_gpu(dispatch, adapter=adapter, via_hercules=via_hercules)


def run_emulated(dispatch: Dispatch, target: str) -> Timing:
    """Machine code for another kind of processor, in an emulator: slow, to test that code."""
    from .backend.cpu.emulation import emulated
    from .backend.cpu.options import default_options

    start = time.perf_counter()
    with ExitStack() as stack:
        with compiling_within(dispatch.timeout):
            options = default_options(contract=dispatch.contract)
            kernel = stack.enter_context(emulated(target, dispatch.compilation.hercules, options))
        built = time.perf_counter()
        kernel.run(dispatch.buffers, dispatch.workgroups, dispatch.timeout)
    return Timing(built - start, time.perf_counter() - built)


def run_interpreted(dispatch: Dispatch) -> Timing:
    """The reference interpreter of core IR: slow and exact."""
    import_in_time(f"{__package__}.ir.core.interp")
    from .ir.core.interp import run

    start = time.perf_counter()
    with compiling_within(dispatch.timeout):
        module = dispatch.compilation.specialised
    built = time.perf_counter()
    run(module, dispatch.compilation.entry, dispatch.buffers, dispatch.workgroups, timeout=dispatch.timeout)
    return Timing(built - start, time.perf_counter() - built)


def run_hercules(dispatch: Dispatch) -> Timing:
    """The reference interpreter of Hercules IR, on the graph that the CPU's code is made from."""
    import_in_time(f"{__package__}.ir.hercules.dispatch")
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

EMULATED: dict[str, Device] = {"cpu:aarch64": partial(run_emulated, target="aarch64")}
"""Processors that this machine does not have, in an emulator, for tests of the code for them."""

_GPU_PREFIX = "gpu:"
_VIA_HERCULES = " via hercules"


def device_named(name: str) -> Device:
    """The device of that name: one of `DEVICES`, of `EMULATED`, `gpu:ADAPTER`, or one that `routed` gives. Raises
    InputError.
    """
    if name in DEVICES:
        return DEVICES[name]
    if name in EMULATED:
        return EMULATED[name]
    adapter = adapter_named(name)
    if adapter is None:
        raise InputError(unknown_name(f"no device is named {name!r}", name, DEVICES))
    return partial(run_on_gpu, adapter=adapter, via_hercules=name.endswith(_VIA_HERCULES))


def routed(device: str, via: str | None) -> str:
    """The name of a device that compiles by way of another IR: `via` is "hercules" or None. Raises InputError.

    Code for the CPU always comes from Hercules IR, and so does the interpreter's `hercules`; core IR's has no such way.
    """
    if via is None:
        return device
    if via != "hercules":
        raise InputError(unknown_name(f"there is no way via {via!r}", via, ("hercules",)))
    if device in ("cpu", "hercules", *EMULATED):
        return device
    if adapter_named(device) is None:
        raise InputError(f"via 'hercules' is for the devices 'gpu' and 'cpu', not {device!r}")
    return device + _VIA_HERCULES


def samples_itself(device: str) -> bool:
    """Whether textures are sampled by the hardware or driver of a GPU, rather than by code of ours."""
    return adapter_named(device) is not None and not device.endswith(_VIA_HERCULES)


def adapter_named(name: str) -> str | None:
    """Which GPU adapter a device's name asks for: "" is any, None means that the device is no GPU."""
    name = name.removesuffix(_VIA_HERCULES)
    if name == "gpu":
        return ""
    adapter = name.removeprefix(_GPU_PREFIX).strip()
    return adapter if name.startswith(_GPU_PREFIX) and adapter and adapter.isprintable() else None
