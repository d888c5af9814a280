"""What the machine does at most, measured beside each nest: bytes of a copy, products and sums, fused or not."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from functools import cached_property
from typing import Final

from tinct.backend.cpu.aligned import aligned_zeros

from ..peers.c import SOURCES, compiled, compiler
from .problems import Limit

_BYTES: Final = 64 << 20
_ROUNDS: Final = 1_000_000
"""So many that starting the threads takes no share of the time."""
_CHAINS: Final = 12


class Limits:
    """What is measured of a device: here nothing."""

    def __init__(self) -> None:
        self.best: dict[str, float] = {}
        """Bytes or operations a second, the most that was seen."""

    def measure(self) -> None:
        """One round of each."""

    def close(self) -> None:
        """Release what is measured with."""

    def keep(self, name: str, rate: float) -> None:
        """Remember a rate if it is the best."""
        self.best[name] = max(rate, self.best.get(name, 0.0))


class CpuLimits(Limits):
    """Seconds of C that does nothing but copy, read, or multiply and add: `fma` in one operation, `separate` in two.
    `copy` stores as compilers do, and is what shares are relative to; `copy_past_caches` uses stores that do not read
    lines first. `limit` says which of them bounds a nest.
    """

    def __init__(self, limit: Limit) -> None:
        super().__init__()
        self._limit = limit

    @staticmethod
    def available() -> bool:
        """Whether there is a C compiler."""
        return compiler() is not None

    @cached_property
    def _copies(self) -> ctypes.CDLL:
        library = compiled(SOURCES / "copies.c")
        library.read_all.restype = ctypes.c_float
        return library

    @cached_property
    def _peaks(self) -> ctypes.CDLL:
        library = compiled(SOURCES / "peaks.c")
        library.fused.restype = library.separate.restype = library.fma_lanes.restype = ctypes.c_int64
        return library

    @cached_property
    def _memory(self) -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
        self._held = aligned_zeros(_BYTES), aligned_zeros(_BYTES)
        for it in self._held:
            it[:] = 1
        first, second = (ctypes.c_void_p(it.__array_interface__["data"][0]) for it in self._held)
        return first, second

    def measure(self) -> None:
        """One round of each."""
        if self._limit == "copy":
            self._measure_bytes()
        elif self._limit == "fma":
            self._measure_operations()

    def _measure_bytes(self) -> None:
        to, source = self._memory
        count = ctypes.c_int64(_BYTES // 4)
        self._timed("copy", 2 * _BYTES, lambda: self._copies.copy(to, source, count))
        self._timed("copy past caches", 2 * _BYTES, lambda: self._copies.copy_past_caches(to, source, count))
        self._timed("read", _BYTES, lambda: self._copies.read_all(source, count))

    def _measure_operations(self) -> None:
        result, rounds = ctypes.c_float(), ctypes.c_int64(_ROUNDS)
        cores = int(self._peaks.fused(ctypes.c_int64(1000), ctypes.byref(result)))
        work = 2 * _CHAINS * int(self._peaks.fma_lanes()) * cores * _ROUNDS
        self._timed("fma", work, lambda: self._peaks.fused(rounds, ctypes.byref(result)))
        self._timed("separate", work, lambda: self._peaks.separate(rounds, ctypes.byref(result)))

    def _timed(self, name: str, work: int, call: Callable[[], object]) -> None:
        started = time.perf_counter()
        call()
        self.keep(name, work / (time.perf_counter() - started))
