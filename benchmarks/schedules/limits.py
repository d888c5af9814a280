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
_TIMINGS: Final = 3
"""Timings of a round, as those of a nest are several."""


class Limits:
    """What is measured of a device: here nothing."""

    def measure(self) -> dict[str, float]:
        """One round of each: bytes or operations a second."""
        return {}

    def close(self) -> None:
        """Release what is measured with."""


class CpuLimits(Limits):
    """Seconds of C that does nothing but copy, read, or multiply and add: `fma` in one operation, `separate` in two.
    `copy` stores as compilers do, and is what shares are relative to; `copy_past_caches` uses stores that do not read
    lines first. `limit` says which of them bounds a nest.
    """

    def __init__(self, limit: Limit) -> None:
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

    def measure(self) -> dict[str, float]:
        """One round of each: bytes or operations a second."""
        if self._limit == "copy":
            return self._bytes()
        return self._operations() if self._limit == "fma" else {}

    def _bytes(self) -> dict[str, float]:
        to, source = self._memory
        count = ctypes.c_int64(_BYTES // 4)
        return {
            "copy": _rate(2 * _BYTES, lambda: self._copies.copy(to, source, count)),
            "copy past caches": _rate(2 * _BYTES, lambda: self._copies.copy_past_caches(to, source, count)),
            "read": _rate(_BYTES, lambda: self._copies.read_all(source, count)),
        }

    def _operations(self) -> dict[str, float]:
        result, rounds = ctypes.c_float(), ctypes.c_int64(_ROUNDS)
        cores = int(self._peaks.fused(ctypes.c_int64(1000), ctypes.byref(result)))
        work = 2 * _CHAINS * int(self._peaks.fma_lanes()) * cores * _ROUNDS
        return {
            "fma": _rate(work, lambda: self._peaks.fused(rounds, ctypes.byref(result))),
            "separate": _rate(work, lambda: self._peaks.separate(rounds, ctypes.byref(result))),
        }


def _rate(work: int, call: Callable[[], object]) -> float:
    """The best of some: the first one may find its arrays in no cache, and threads asleep."""
    return max(_rate_of_one(work, call) for _ in range(_TIMINGS))


def _rate_of_one(work: int, call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return work / (time.perf_counter() - started)
