"""Compiled functions: machine code, and the workers that run it on buffers at addresses."""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ...base.forks import ForkLock
from ...base.records import dataclass, replace
from . import _pool, jit
from .emitted import NEVER, Emitted, Interface
from .extents import evaluate
from .machine import costs_so_far
from .options import CpuOptions, default_options
from .threads import shared_pool
from .watchdog import stop_after

if TYPE_CHECKING:
    from ...ir.hercules import nodes as h
    from .layout import Layout

_LARGEST_COPIES = 1 << 23
"""Maximum size of the private copies of all workers together, in bytes."""


@dataclass(slots=True)
class CompiledFunction:
    """Machine code of a Hercules function whose parameters are buffers."""

    interface: Interface
    code: jit.MachineCode
    recipe: Recipe
    _parameters: RunParameters | None = None
    """The parameters of the last run."""

    def bind(self, addresses: Sequence[int], constants: Sequence[int]) -> BoundFunction:
        """With the buffers at these addresses, and these dynamic constants.

        Buffers must be as large as the layouts and the constants say, 16-byte aligned, and stay where they are.
        """
        parameters = self._parameters
        if parameters is None or parameters.constants != constants:
            self._parameters = parameters = RunParameters.of(self.interface, constants)
        return BoundFunction(self, tuple(addresses), _packed(addresses), parameters)

    def for_workers(self, constants: Sequence[int], workers: int) -> CompiledFunction:
        """The function, or its variant without private copies if those of so many workers would be too large."""
        copied = sum(evaluate(it.size, constants) for it in self.interface.privates)
        return self.recipe.sharing() if workers > 1 and copied * workers > _LARGEST_COPIES else self


@dataclass(frozen=True, slots=True)
class BoundFunction:
    """A compiled function with its buffers and dynamic constants."""

    function: CompiledFunction
    _addresses: Sequence[int]
    _packed: bytes
    parameters: RunParameters

    def run(self, *, workers: int | None = None, timeout: float | None = None) -> None:
        """Run, and return when all is done. After `timeout` seconds it is stopped half done, with a DeviceError."""
        pool, parameters = shared_pool(workers), self.parameters
        if pool.workers > 1 and parameters.copied * pool.workers > _LARGEST_COPIES:
            self._shared().run(workers=workers, timeout=timeout)
        elif timeout is None:
            self._run(pool, None)
        else:
            with stop_after(timeout) as stop:
                self._run(pool, stop)

    def runner(self) -> Callable[[], None]:
        """`run` on all processors, as a function without a parameter that costs as little as can be."""
        pool, parameters = shared_pool(), self.parameters
        if pool.workers > 1 and parameters.copied * pool.workers > _LARGEST_COPIES:
            return self._shared().runner()
        run, code, packed = pool.run, self.function.code, self._packed
        address, numbers, threads = code.address, parameters.numbers, parameters.threads
        scratch, privates, pace = parameters.scratch, parameters.privates, parameters.pace

        def go() -> None:
            parameters.each = run(address, packed, numbers, threads, scratch, privates, None, parameters.each, pace)

        return go

    def _run(self, pool: _pool.Pool, stop: _pool.Stop | None) -> None:
        parameters = self.parameters
        parameters.each = pool.run(
            self.function.code.address,
            self._packed,
            parameters.numbers,
            parameters.threads,
            parameters.scratch,
            parameters.privates,
            stop,
            parameters.each,
            parameters.pace,
        )

    def _shared(self) -> BoundFunction:
        return self.function.recipe.sharing().bind(self._addresses, self.parameters.constants)


Source: TypeAlias = "tuple[h.Function, Mapping[int, Layout]]"
"""A function, and the layouts of its parameters."""


class Recipe:
    """How a function is compiled. It is compiled again on demand, for dumps and for the shared-memory variant."""

    def __init__(self, source: Callable[[], Source], options: CpuOptions) -> None:
        self._source = source
        self._options = options
        self._lock = ForkLock()
        self._sharing: CompiledFunction | None = None

    def emit(self) -> Emitted:
        """Its LLVM IR."""
        from .emit import emit_function

        return emit_function(*self._source(), self._options)

    def compile(self) -> CompiledFunction:
        """Its machine code."""
        started = time.perf_counter()
        emitted = self.emit()
        seconds = time.perf_counter() - started
        return self.function(emitted.interface, jit.compile_module(emitted.text, emitted.passes, seconds))

    def function(self, interface: Interface, code: jit.MachineCode) -> CompiledFunction:
        """The function whose machine code this is."""
        return CompiledFunction(interface, code, self)

    def sharing(self) -> CompiledFunction:
        """The variant in which all workers share the bindings, for private copies that would be too large."""
        with self._lock:
            if self._sharing is None:
                self._sharing = Recipe(self._source, replace(self._options, private_copies=False)).compile()
            return self._sharing


@dataclass(slots=True)
class RunParameters:
    """Values that follow from the dynamic constants of a run.

    `words` has the constants for the machine code, with what `non_temporal_constants` are; `numbers` are the same,
    packed. `copied` bytes are in each worker's private copies. `pace` and `each` are those of `_pool.Pool.run`.
    """

    constants: Sequence[int]
    words: Sequence[int]
    numbers: bytes
    threads: int
    scratch: int
    privates: tuple[tuple[int, str, int], ...]
    copied: int
    pace: bytearray | None
    each: float = 0.0

    @classmethod
    def of(cls, interface: Interface, constants: Sequence[int]) -> RunParameters:
        """The parameters for these dynamic constants."""
        privates = [(it.parameter, it.kind, evaluate(it.size, constants)) for it in interface.privates]
        footprint, costs = evaluate(interface.footprint, constants), costs_so_far()
        limits = costs.cached_bytes, costs.cached_bytes_apart
        words = (*constants, *(0 if footprint >= it else NEVER for it in limits))
        return cls(
            tuple(constants),
            words,
            _packed(words),
            threads_of(interface, constants),
            evaluate(interface.scratch_size, constants),
            tuple(privates),
            sum(size for _, _, size in privates),
            bytearray(16) if interface.is_quicker_alone else None,
        )


def threads_of(interface: Interface, constants: Sequence[int]) -> int:
    """The number of threads that workers share, for these dynamic constants."""
    return math.prod(evaluate(it, constants) for it in interface.parallel)


def _packed(numbers: Sequence[int]) -> bytes:
    """As 64-bit words of this machine."""
    return struct.pack(f"{len(numbers)}Q", *numbers)


def compile_function(
    function: h.Function, layouts: Mapping[int, Layout], options: CpuOptions | None = None
) -> CompiledFunction:
    """Compile a function whose parameters have these layouts; without options, with `default_options`."""
    return Recipe(lambda: (function, layouts), options or default_options()).compile()
