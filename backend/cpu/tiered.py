"""Chooses the tier on which the CPU runs a dispatch of an entry point.

Compiling gangs takes LLVM 10 to 90 ms, which a test with a few hundred elements never earns back. So a kernel begins on
the baseline tier, and stays there until its runs have taken about as long as compiling gangs does. A first run that
takes longer is stopped: the buffers it wrote are restored, and gangs run the dispatch from its start. At worst that
takes twice the time of compiling gangs at once. The results are the same on all tiers.

Machine code is taken from this process, from the cache on disk, or compiled, in this order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from ...base.deadline import compiling_within
from ...base.errors import DeviceError
from ...base.forks import CompileLock
from ...base.records import dataclass, field
from ...ir.types import BindingPoint
from . import jit, kernel_cache
from .compiler_files import compiler_files
from .device import CompiledKernel
from .host import is_host_kept
from .kernel_identity import KernelIdentity
from .options import CpuOptions, default_options, tier_asked_for

if TYPE_CHECKING:
    from ...ir.hercules.entry import EntryPoint

TRIAL_SECONDS = 20e-3
"""Time budget in seconds of all first runs of a kernel together: the least time that compiling gangs takes."""
MOST_WRITTEN = 1 << 20
"""Maximum bytes that a first run may write: restoring more takes longer than first runs save."""

_STARTING = "start LLVM"


@dataclass(frozen=True, slots=True)
class CpuDispatch:
    """A dispatch on the CPU: buffers by binding point, of which `written` change in place.

    If compiling, or then running, takes longer than `timeout` seconds, it is stopped and raises DeviceError.
    `contract`: see `CpuOptions`. `is_trial`: whether baseline code may run it.
    """

    buffers: Mapping[BindingPoint, bytearray | memoryview]
    written: Collection[BindingPoint]
    workgroups: tuple[int, int, int]
    timeout: float | None = None
    contract: bool = False
    is_trial: bool = True

    @property
    def may_be_first_run(self) -> bool:
        """Whether baseline code may run the dispatch as a first run."""
        written = sum(len(self.buffers[point]) for point in self.written)
        return self.is_trial and not self.contract and tier_asked_for() is None and written <= MOST_WRITTEN


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Seconds that a dispatch took. `is_cached`: machine code was needed and all of it was on disk."""

    compile: float
    run: float
    is_cached: bool


@dataclass(slots=True)
class TieredKernel:
    """The machine codes of an entry point. `compile` makes one, `entry_point` is its Hercules IR.

    The times of starting LLVM, which compiling needs, and of loading from the cache are added to `seconds`.
    """

    identity: KernelIdentity
    compile: Callable[[CpuOptions], CompiledKernel]
    entry_point: Callable[[], EntryPoint]
    seconds: dict[str, float]
    _codes: dict[CpuOptions, CompiledKernel] = field(default_factory=dict[CpuOptions, CompiledKernel])
    _from_disk: set[CpuOptions] = field(default_factory=set[CpuOptions])
    trial_seconds: float = field(default_factory=lambda: TRIAL_SECONDS)
    """Seconds left for first runs."""
    _lock: CompileLock = field(default_factory=CompileLock)
    _has_names: bool = False

    def run(self, dispatch: CpuDispatch) -> CpuTimes:
        """Dispatch. Raises ShaderError, InputError and DeviceError."""
        self._prepare_names()
        known, starting, start = set(self._codes), self._seconds_of_start, time.perf_counter()
        with compiling_within(dispatch.timeout):
            kernel = self._first_code(dispatch)
        ready = time.perf_counter()
        if kernel is None or not self._try(kernel, dispatch):
            with compiling_within(dispatch.timeout):
                kernel = self.code(default_options(contract=dispatch.contract))
            ready = time.perf_counter()
            kernel.run(in_order(kernel, dispatch), dispatch.workgroups, timeout=dispatch.timeout)
        new = self._codes.keys() - known
        is_cached = bool(new) and new <= self._from_disk
        ended, starting = time.perf_counter(), self._seconds_of_start - starting
        return CpuTimes(ready - start - starting, ended - ready, is_cached)

    def code(self, options: CpuOptions) -> CompiledKernel:
        """The machine code for these options. Raises ShaderError for what cannot be compiled."""
        with self._lock:
            self._prepare_names()
            kernel = self._codes.get(options) or self._restored(options)
            if kernel is None:
                self._start_llvm()
                kernel = self._codes[options] = self.compile(options)
                kernel_cache.keep(self.identity, options, kernel)
            return kernel

    def has_code(self, options: CpuOptions) -> bool:
        """Whether this process has that machine code."""
        return options in self._codes

    def was_on_disk(self, options: CpuOptions) -> bool:
        """Whether that machine code, which this process has, was not compiled but loaded."""
        return options in self._from_disk

    @property
    def is_on_trial(self) -> bool:
        """Whether the next small dispatch is a first run."""
        return self.trial_seconds > 0 and not self.has_code(CpuOptions("gang"))

    def trial_code(self) -> CompiledKernel | None:
        """Baseline code if the next small dispatch is a first run; None if optimised code is on disk, which loads as
        fast, or if one tier was asked for.
        """
        if not self.is_on_trial or tier_asked_for() is not None:
            return None
        is_restored = not self.has_code(CpuOptions("baseline")) and self._restored(CpuOptions("gang")) is not None
        return None if is_restored else self.code(CpuOptions("baseline"))

    def _first_code(self, dispatch: CpuDispatch) -> CompiledKernel | None:
        """Baseline code if the dispatch is a first run."""
        return self.trial_code() if dispatch.may_be_first_run else None

    def _try(self, kernel: CompiledKernel, dispatch: CpuDispatch) -> bool:
        """Do a first run. False if the run was abandoned: buffers are restored; use optimised code from now on."""
        buffers, seconds = in_order(kernel, dispatch), self.trial_seconds
        if not seconds > 0:  # another thread has used what was left
            return False
        if dispatch.timeout is not None and not dispatch.timeout > seconds:
            kernel.run(buffers, dispatch.workgroups, timeout=dispatch.timeout)
            return True
        before = {point: bytes(dispatch.buffers[point]) for point in dispatch.written}
        start = time.perf_counter()
        try:
            kernel.run(buffers, dispatch.workgroups, timeout=seconds)
        except DeviceError:
            for point, data in before.items():
                dispatch.buffers[point][:] = data
            return False
        finally:
            self.trial_seconds -= time.perf_counter() - start
        return True

    def _restored(self, options: CpuOptions) -> CompiledKernel | None:
        """The machine code from the cache on disk."""
        start = time.perf_counter()
        kernel = kernel_cache.restore(self.identity, options, self.entry_point)
        if kernel is not None:
            self._codes[options] = kernel
            self._from_disk.add(options)
            self.seconds["load from the cache"] = time.perf_counter() - start
        return kernel

    def _prepare_names(self) -> None:
        """Do what the names in the cache depend on once in a process, so that no stage's time has it."""
        if self._has_names:
            return
        compiler_files()
        if not is_host_kept():
            self._start_llvm()
        jit.identity()
        self._has_names = True

    def _start_llvm(self) -> None:
        """Load and set up what compiling needs once in a process, so that no other stage's time has it."""
        if _STARTING in self.seconds:
            return
        start = time.perf_counter()
        jit.start()
        self.seconds[_STARTING] = time.perf_counter() - start

    @property
    def _seconds_of_start(self) -> float:
        return self.seconds.get(_STARTING, 0.0)


def in_order(kernel: CompiledKernel, dispatch: CpuDispatch) -> list[bytearray | memoryview]:
    """The buffers of a dispatch in the order of the kernel's bindings."""
    return [dispatch.buffers[slot.point] for slot in kernel.slots]
