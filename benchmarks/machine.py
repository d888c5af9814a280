"""The machine: its name, and the limits that shares are relative to."""

from __future__ import annotations

import ctypes
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from tinct.backend.cpu.machine import processor_fact, processor_name

_TRIAD_FLOATS = 1 << 24
_FUSED_ROUNDS = 7_000_000
_CHAINS = 12
_TRIES = 7


@dataclass(frozen=True, slots=True)
class Limits:
    """Measured maxima: bytes a second of a triad, floating-point operations a second of fused multiply-adds."""

    bandwidth: float
    flops: float

    def or_better(self, other: Limits) -> Limits:
        """The better of two measurements, since other processes can only slow one down."""
        return Limits(max(self.bandwidth, other.bandwidth), max(self.flops, other.flops))

    def __str__(self) -> str:
        return f"triad {self.bandwidth / 1e9:.0f} GB/s, FMA {self.flops / 1e9:.0f} GFLOP/s"


@cache
def processor_features() -> frozenset[str]:
    """The names of its instruction sets, as Linux spells them; empty where it does not say."""
    return frozenset((processor_fact("flags") or "").split())


def describe() -> dict[str, str | int]:
    """What a reader of the numbers must know of the machine."""
    return {
        "processor": processor_name(),
        "threads": len(os.sched_getaffinity(0)),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0]),
    }


def measure_limits(library: ctypes.CDLL) -> Limits:
    """The best of some tries, with the functions of native/peaks.c."""
    return Limits(_bandwidth(library), _flops(library))


def _bandwidth(library: ctypes.CDLL) -> float:
    arrays = [np.ones(_TRIAD_FLOATS, np.float32) for _ in range(3)]
    addresses = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    seconds = min(_seconds(lambda: library.triad(*addresses, ctypes.c_int64(_TRIAD_FLOATS))) for _ in range(_TRIES))
    return sum(array.nbytes for array in arrays) / seconds


def _flops(library: ctypes.CDLL) -> float:
    library.fused.restype = library.fma_lanes.restype = ctypes.c_int64
    result = ctypes.c_float()
    rounds = ctypes.c_int64(_FUSED_ROUNDS // _TRIES)
    cores = int(library.fused(ctypes.c_int64(1000), ctypes.byref(result)))
    seconds = min(_seconds(lambda: library.fused(rounds, ctypes.byref(result))) for _ in range(_TRIES))
    return 2.0 * _CHAINS * int(library.fma_lanes()) * cores * rounds.value / seconds


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def spread(samples: list[float]) -> float:
    """Half the distance between the quartiles, relative to the median; 0 with fewer than three samples."""
    if len(samples) < 3:
        return 0.0
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return (high - low) / 2 / middle if middle else 0.0
