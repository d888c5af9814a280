"""Compiled functions: machine code, and the workers that run it on buffers at addresses."""

from __future__ import annotations

import ctypes
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...ir.diagnostics import InputError
from ...ir.fork_lock import ForkLock
from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from . import jit
from .emit import Emitted, Interface, Tier, emit_function
from .layout import Layout
from .privatise import Private
from .threads import Pool, RangeTask, shared_pool
from .watchdog import StopFlag, stop_after

_Entry = Callable[[int, int, int, int, int, int], None]
_LARGEST_COPIES = 1 << 23
"""The most bytes of the private copies of all workers together."""
_SECONDS_PER_BYTE = 2e-10
"""What clearing and merging a private copy takes, more or less."""
_ALIGN = 64


@dataclass(slots=True)
class CompiledFunction:
    """Machine code of a Hercules function whose parameters are buffers."""

    interface: Interface
    code: jit.MachineCode
    recipe: Recipe
    _entry: _Entry
    _sizes: _Sizes | None = None
    """Those of the last run."""
    _each: float = 0.0
    """The seconds that a thread of the last run took."""

    def run(
        self,
        addresses: Sequence[int],
        constants: Sequence[int],
        *,
        workers: int | None = None,
        timeout: float | None = None,
    ) -> None:
        """Run on the buffers at these addresses, with these dynamic constants; return when all is done.

        Buffers must be as large as the layouts and the constants say, and 16-byte aligned. After `timeout` seconds the
        run is stopped half done, with a DeviceError.
        """
        pool, sizes = shared_pool(workers), self._sizes
        if sizes is None or sizes.constants != constants:
            sizes, self._each = _Sizes.of(self.interface, constants), 0.0
            self._sizes = sizes
        if pool.workers > 1 and sizes.copied * pool.workers > _LARGEST_COPIES:
            self.recipe.sharing().run(addresses, constants, workers=workers, timeout=timeout)
        elif sizes.threads == 0:
            return
        elif timeout is None:
            self._each = _Run(self._entry, addresses, sizes, StopFlag()).run(pool, self._each)
        else:
            with stop_after(timeout) as stop:
                self._each = _Run(self._entry, addresses, sizes, stop).run(pool, self._each)


Source = tuple[h.Function, Mapping[int, Layout]]
"""A function, and the layouts of its parameters."""


class Recipe:
    """How a function is compiled, for what is seldom asked for; `source` is called when it is."""

    def __init__(self, source: Callable[[], Source], tier: Tier, *, contract: bool) -> None:
        self._source = source
        self._tier: Tier = tier
        self._contract = contract
        self._lock = ForkLock()
        self._sharing: CompiledFunction | None = None

    def emit(self, *, privatise: bool = True) -> Emitted:
        """Its LLVM IR."""
        return emit_function(*self._source(), self._tier, privatise=privatise, contract=self._contract)

    def compile(self, *, privatise: bool = True) -> CompiledFunction:
        """Its machine code."""
        started = time.perf_counter()
        emitted = self.emit(privatise=privatise)
        seconds = time.perf_counter() - started
        code = jit.compile_module(emitted.text, emitted.passes, seconds)
        return CompiledFunction(emitted.interface, code, self, code.entry())

    def sharing(self) -> CompiledFunction:
        """What all workers run on the bindings themselves, where copies would be too large."""
        with self._lock:
            if self._sharing is None:
                self._sharing = self.compile(privatise=False)
            return self._sharing


@dataclass(frozen=True, slots=True)
class _Sizes:
    """What follows from the dynamic constants of a run. `numbers` has them for the machine code. `copied` bytes are in
    each worker's private copies.
    """

    constants: Sequence[int]
    numbers: ctypes.Array[ctypes.c_uint64]
    threads: int
    scratch: int
    copies: Sequence[tuple[Private, int]]
    copied: int

    @classmethod
    def of(cls, interface: Interface, constants: Sequence[int]) -> _Sizes:
        """For these dynamic constants."""
        copies = [(it, dynamic.evaluate(it.size, constants)) for it in interface.privates]
        return cls(
            tuple(constants),
            (ctypes.c_uint64 * max(len(constants), 1))(*constants),
            math.prod(dynamic.evaluate(it, constants) for it in interface.parallel),
            dynamic.evaluate(interface.scratch_size, constants),
            copies,
            sum(size for _, size in copies),
        )

    @property
    def room(self) -> int:
        """The bytes that a worker needs for itself."""
        return self.scratch + self.copied + _ALIGN * (len(self.copies) + 1) if self.copies else self.scratch


@dataclass(slots=True)
class _Run:
    """One run: what its workers share, and the private copies that are left to merge."""

    entry: _Entry
    addresses: Sequence[int]
    sizes: _Sizes
    stop: StopFlag
    _unmerged: list[tuple[Private, int, int]] = field(default_factory=list[tuple[Private, int, int]])

    def run(self, pool: Pool, each: float) -> float:
        """Do all threads, and merge. A thread seems to take so many seconds (see `Pool.run`)."""
        sizes = self.sizes
        overhead = sizes.copied * _SECONDS_PER_BYTE
        each = pool.run(self._start, sizes.threads, sizes.room, overhead=overhead, each=each, cancel=self.stop.raise_)
        for private, address, size in self._unmerged:
            private.merge(self.addresses[private.parameter], address, size)
        return each

    def _start(self, worker: int, scratch: int) -> RangeTask:
        """The first worker works on the bindings themselves, the others on copies of those that are private."""
        addresses = list(self.addresses)
        end = scratch + self.sizes.scratch
        for private, size in self.sizes.copies if worker > 0 else ():
            begin = -(-end // _ALIGN) * _ALIGN
            end = begin + size
            private.clear(begin, size)
            addresses[private.parameter] = begin
            self._unmerged.append((private, begin, size))
        entry, stop = self.entry, self.stop
        buffers = (ctypes.c_void_p * max(len(addresses), 1))(*addresses)
        numbers_at = ctypes.addressof(self.sizes.numbers)

        def task(begin: int, end: int) -> None:
            if not stop.value:
                entry(ctypes.addressof(buffers), numbers_at, begin, end, scratch, stop.address)

        return task


def compile_function(
    function: h.Function, layouts: Mapping[int, Layout], *, tier: Tier | None = None, contract: bool = False
) -> CompiledFunction:
    """Compile a function whose parameters have these layouts.

    Without a `tier`, it is what the environment variable TINCT_CPU_TIER says, else the fastest. With `contract`,
    products and sums may be fused (see `emit_function`).
    """
    return Recipe(lambda: (function, layouts), tier or tier_asked_for() or "gang", contract=contract).compile()


def restored_function(
    interface: Interface, code: jit.MachineCode, source: Callable[[], Source], *, contract: bool
) -> CompiledFunction:
    """A function that was compiled before."""
    return CompiledFunction(interface, code, Recipe(source, interface.tier, contract=contract), code.entry())


def tier_asked_for() -> Tier | None:
    """What TINCT_CPU_TIER says; None where it leaves the choice. Raises InputError."""
    name = os.environ.get("TINCT_CPU_TIER", "auto")
    match name:
        case "gang" | "lane" | "baseline":
            return name
        case "auto":
            return None
        case _:
            raise InputError(f"TINCT_CPU_TIER must be 'auto', 'gang', 'lane' or 'baseline', not {name!r}")
