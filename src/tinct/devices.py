"""The devices a kernel can run on, behind one face."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from .compilation import Compilation, Timing
from .hints import unknown_name
from .ir.diagnostics import InputError
from .ir.layout import runtime_count
from .ir.types import BindingPoint
from .reflection import BindingInfo

if TYPE_CHECKING:
    from .backend.gpu import BindingKind

Buffers = Mapping[BindingPoint, bytearray]


class Device(Protocol):
    """Runs a dispatch on buffers in place. Raises ShaderError, InputError or DeviceError."""

    def run(
        self,
        compilation: Compilation,
        bindings: Sequence[BindingInfo],
        buffers: Buffers,
        workgroups: tuple[int, int, int],
        timeout: float | None = None,
    ) -> Timing:
        """Dispatch `workgroups`; the writable buffers hold the result afterwards.

        A dispatch that takes longer than `timeout` seconds, compiling aside, is stopped and raises DeviceError.
        """
        ...


class CpuDevice:
    """Machine code from LLVM on all cores."""

    def run(
        self,
        compilation: Compilation,
        bindings: Sequence[BindingInfo],
        buffers: Buffers,
        workgroups: tuple[int, int, int],
        timeout: float | None = None,
    ) -> Timing:
        """See `Device`."""
        start = time.perf_counter()
        kernel = compilation.cpu
        compiled = time.perf_counter()
        used = compilation.hercules.bindings
        lengths = [runtime_count(b.type, len(buffers[b.point])) for b in used if b.length is not None]
        kernel.run([buffers[binding.point] for binding in used], workgroups, lengths, timeout=timeout)
        return Timing(compiled - start, time.perf_counter() - compiled)


class InterpreterDevice:
    """The reference interpreter of core IR: slow and exact."""

    def run(
        self,
        compilation: Compilation,
        bindings: Sequence[BindingInfo],
        buffers: Buffers,
        workgroups: tuple[int, int, int],
        timeout: float | None = None,
    ) -> Timing:
        """See `Device`."""
        from .ir.core.interp import run

        start = time.perf_counter()
        module = compilation.specialised
        built = time.perf_counter()
        run(module, compilation.entry, buffers, workgroups, timeout=timeout)
        return Timing(built - start, time.perf_counter() - built)


class HerculesDevice:
    """The reference interpreter of Hercules IR, on the graph that the CPU's code is made from."""

    def run(
        self,
        compilation: Compilation,
        bindings: Sequence[BindingInfo],
        buffers: Buffers,
        workgroups: tuple[int, int, int],
        timeout: float | None = None,
    ) -> Timing:
        """See `Device`."""
        from .ir.hercules.dispatch import run_entry_point

        start = time.perf_counter()
        entry = compilation.hercules
        built = time.perf_counter()
        run_entry_point(entry, buffers, workgroups, timeout=timeout)
        return Timing(built - start, time.perf_counter() - built)


class GpuDevice:
    """The WebGPU adapter that wgpu finds, in a process of its own."""

    def run(
        self,
        compilation: Compilation,
        bindings: Sequence[BindingInfo],
        buffers: Buffers,
        workgroups: tuple[int, int, int],
        timeout: float | None = None,
    ) -> Timing:
        """See `Device`."""
        from .backend.gpu import DEFAULT_SECONDS, BufferBinding, default_device

        start = time.perf_counter()
        wgsl = compilation.wgsl
        written = time.perf_counter()
        given = [BufferBinding(b.group, b.binding, _kind(b), bytes(buffers[b.point])) for b in bindings]
        seconds = DEFAULT_SECONDS if timeout is None else timeout
        result = default_device().run(wgsl, compilation.entry, given, workgroups, timeout=seconds)
        for (group, binding), data in result.outputs.items():
            buffers[BindingPoint(group, binding)][:] = data
        return Timing(written - start + result.compile_seconds, result.run_seconds)


def _kind(info: BindingInfo) -> BindingKind:
    if info.space == "uniform":
        return "uniform"
    return "storage" if info.is_written else "read-only-storage"


DEVICES: dict[str, Device] = {
    "cpu": CpuDevice(),
    "gpu": GpuDevice(),
    "interp": InterpreterDevice(),
    "hercules": HerculesDevice(),
}
"""All devices by name; `interp` and `hercules` are the interpreters of core IR and of Hercules IR."""


def device_named(name: str) -> Device:
    """The device of that name. Raises InputError."""
    if name not in DEVICES:
        raise InputError(unknown_name(f"no device is named {name!r}", name, DEVICES))
    return DEVICES[name]
