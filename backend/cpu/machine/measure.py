"""Measures the costs of this machine, in about a quarter of a second.

Each probe runs several times, and the shortest time counts, since other processes only make it longer. Of the times
until a worker begins, the lower quartile counts.
"""

from __future__ import annotations

import statistics
import struct
import time
from collections.abc import Callable
from typing import Final

import numpy as np

from .. import _pool, jit
from ..aligned import Bytes, address_of, aligned_zeros
from ..target import current_target
from ..threads import available_processors
from .caches import cache_sizes
from .model import AccessCosts, Cache, MachineCosts
from .probes import AREA, INDICES_AT, READ, UNROLLED, VECTORS, WAIT, WORDS, module, numbers
from .processor import processor_name

_TRIES: Final = 5
_SECONDS: Final = 4e-4
"""The time that the rounds of a try take, approximately."""
_MOST_ROUNDS: Final = 1 << 20
_BEYOND: Final = 64 << 20
"""The most bytes that are read to measure the bandwidth of memory: else one and a half times the largest cache."""
_WAKE_UPS: Final = 9
_REST: Final = 2e-3
"""Seconds after which a worker sleeps."""
_WORK: Final = 3e-4
"""Seconds of work for each of two workers: more than a worker takes to begin."""


def measure() -> MachineCosts:
    """The costs of this machine for the current target."""
    bench = _Bench()
    caches = tuple(Cache(level, size, bench.bandwidth(size // 2)) for level, size in cache_sizes().items())
    beyond = min(3 * max(it.size for it in caches) // 2, _BEYOND)
    return MachineCosts(
        processor=processor_name(),
        target=current_target().processor,
        source="measured",
        access=bench.access(),
        caches=caches,
        bandwidth=bench.bandwidth(beyond),
        wake_up=bench.wake_up(),
    )


class _Bench:
    """The compiled probes."""

    def __init__(self) -> None:
        target = current_target()
        self._lanes = target.vector_bytes // 4
        self._numbers = numbers(target)
        self._code = jit.compile_module(module(target), "baseline")
        self._area = _filled(aligned_zeros(AREA), self._lanes)
        self._pools = {workers: _pool.Pool(workers) for workers in (1, 2)}

    def access(self) -> AccessCosts:
        """Nanoseconds of each operation."""
        found = {
            name: 1e9 * self._seconds_of_round(name, self._area) / UNROLLED
            for name in self._numbers
            if name not in (READ, WAIT)
        }
        return AccessCosts(conflicts=found.pop("conflicts", None), **found)

    def bandwidth(self, size: int) -> float:
        """GB/s of reading so many bytes again and again."""
        area = aligned_zeros(size)
        area[::4096] = 1  # zeros may all be one page
        return size / self._seconds_of_round(READ, area) / 1e9

    def wake_up(self) -> float:
        """Seconds until the second of two workers begins: the time of two equal works beyond that of one."""
        if available_processors() < 2:
            return 0.0
        rounds = max(1, round(_WORK / self._seconds_of_round(WAIT, self._area)))
        alone = min(self._seconds(WAIT, rounds, self._area) for _ in range(_TRIES))
        delays = list[float]()
        for _ in range(_WAKE_UPS):
            time.sleep(_REST)
            delays.append(self._seconds(WAIT, rounds, self._area, workers=2) - alone)
        return min(max(statistics.quantiles(delays)[0], 0.0), alone)

    def _seconds_of_round(self, name: str, area: Bytes) -> float:
        return shortest_round(lambda rounds: self._seconds(name, rounds, area))

    def _seconds(self, name: str, rounds: int, area: Bytes, workers: int = 1) -> float:
        """The time of so many rounds on each worker."""
        packed = struct.pack("=3q", self._numbers[name], rounds, area.nbytes)
        bindings = struct.pack("=q", address_of(area))
        each = _WORK if workers > 1 else 0.0
        started = time.perf_counter()
        self._pools[workers].run(self._code.address, bindings, packed, workers, 0, (), None, each)
        return time.perf_counter() - started


def shortest_round(seconds: Callable[[int], float]) -> float:
    """The shortest time of a round, of which so many are run that they take long even if nothing disturbs them.

    `seconds` runs a number of rounds and gives their time.
    """
    rounds = 1
    while True:
        shortest = min(seconds(rounds) for _ in range(_TRIES))
        if shortest >= _SECONDS / 2 or rounds >= _MOST_ROUNDS:
            return shortest / rounds
        rounds *= 2


def _filled(area: Bytes, lanes: int) -> Bytes:
    """The area with vectors of indices, all different within a vector."""
    random = np.random.default_rng(0)
    for number in range(VECTORS):
        start = INDICES_AT + 4 * lanes * number
        area[start : start + 4 * lanes].view(np.uint32)[:] = random.permutation(WORDS)[:lanes]
    return area
