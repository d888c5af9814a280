"""Measures the costs of this machine, in about half a second.

Each probe runs several times, and the shortest time counts, since other processes only make it longer. The probes take
turns, so that what disturbs the machine for some milliseconds disturbs one try of several probes, and not all tries of
one. The time until a worker begins is a difference, which a disturbance or another clock rate makes longer or shorter:
what it is the difference of is measured in turns, too, each after the same rest.
"""

from __future__ import annotations

import statistics
import struct
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np

from .. import _pool, jit
from ..aligned import Bytes, address_of, aligned_zeros
from ..target import current_target
from ..threads import available_processors
from .caches import cache_sizes
from .model import AccessCosts, Cache, Copying, MachineCosts
from .probes import (
    AREA,
    COPY,
    COPY_APART,
    COPY_APART_PAST,
    COPY_PAST,
    INDICES_AT,
    LEAST_COPIED,
    PIECES,
    READ,
    UNROLLED,
    VECTORS,
    WAIT,
    WORDS,
    module,
    numbers,
    probes,
)
from .processor import processor_name

_TRIES: Final = 5
_SECONDS: Final = 4e-4
"""The time that the rounds of a try take, approximately."""
_MOST_ROUNDS: Final = 1 << 20
_BEYOND: Final = 64 << 20
"""The most bytes that are read to measure the bandwidth of memory: else one and a half times the largest cache."""
_MOST_COPIED: Final = 128 << 20
"""The most bytes of an area that is copied within itself: else up to twice the largest cache."""
_WAKE_UPS: Final = 9
_REST: Final = 2e-3
"""Seconds after which a worker sleeps."""
_WORK: Final = 3e-4
"""Seconds of work for each of two workers: more than a worker takes to begin."""


def measure() -> MachineCosts:
    """The costs of this machine for the current target."""
    bench = _Bench()
    sizes = cache_sizes()
    beyond = min(3 * max(sizes.values()) // 2, _BEYOND)
    access, (*bandwidths, bandwidth) = bench.access_and_bandwidths([*(size // 2 for size in sizes.values()), beyond])
    copies, copies_apart = bench.copies(copied_sizes(max(sizes.values())))
    return MachineCosts(
        processor=processor_name(),
        target=current_target().processor,
        source="measured",
        access=access,
        caches=tuple(Cache(level, size, found) for (level, size), found in zip(sizes.items(), bandwidths, strict=True)),
        bandwidth=bandwidth,
        wake_up=bench.wake_up(),
        copies=copies,
        copies_apart=copies_apart,
    )


def copied_sizes(largest_cache: int) -> list[int]:
    """The bytes of the areas that are copied within themselves, each twice as large as the one before."""
    most = max(min(2 * largest_cache, _MOST_COPIED), LEAST_COPIED)
    return [LEAST_COPIED << it for it in range((most // LEAST_COPIED).bit_length())]


class _Bench:
    """The compiled probes."""

    def __init__(self) -> None:
        target = current_target()
        self._lanes = target.vector_bytes // 4
        self._numbers = numbers(target)
        self._operations = list(probes(target))
        self._code = jit.compile_module(module(target), "baseline")
        self._area = _filled(aligned_zeros(AREA), self._lanes)
        self._pools = {workers: _pool.Pool(workers) for workers in (1, 2)}

    def access_and_bandwidths(self, sizes: Sequence[int]) -> tuple[AccessCosts, list[float]]:
        """Nanoseconds of each operation, and the GB/s of reading so many bytes again and again."""
        areas = [_paged(size) for size in sizes]
        operations = [partial(self._seconds, name, area=self._area) for name in self._operations]
        readings = [partial(self._seconds, READ, area=area) for area in areas]
        found = shortest_rounds([*operations, *readings])
        costs = {name: 1e9 * seconds / UNROLLED for name, seconds in zip(self._operations, found, strict=False)}
        bandwidths = [size / seconds / 1e9 for size, seconds in zip(sizes, found[len(operations) :], strict=True)]
        return AccessCosts(conflicts=costs.pop("conflicts", None), **costs), bandwidths

    def copies(self, sizes: Sequence[int]) -> list[tuple[Copying, ...]]:
        """The GB/s of copying in areas of these sizes, in order, and with lines far apart. Of each kind of stores, the
        first copy brings data into the caches.
        """
        pool, area = _pool.Pool(available_processors()), _paged(sizes[-1])

        def rate(size: int, name: str) -> float:
            return size / min(self._run(pool, name, 1, area[:size], PIECES) for _ in range(_TRIES)) / 1e9

        kinds = (COPY, COPY_PAST), (COPY_APART, COPY_APART_PAST)
        return [tuple(Copying(it, rate(it, ordinary), rate(it, past)) for it in sizes) for ordinary, past in kinds]

    def wake_up(self) -> float:
        """Seconds until the second of two workers begins, 0 where there is one processor."""
        if available_processors() < 2:
            return 0.0
        rounds = max(1, round(_WORK / shortest_rounds([partial(self._seconds, WAIT, area=self._area)])[0]))
        times: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(_WAKE_UPS):
            for workers, of_workers in times.items():
                time.sleep(_REST)
                of_workers.append(self._seconds(WAIT, rounds, area=self._area, workers=workers))
        return delay(times[1], times[2])

    def _seconds(self, name: str, rounds: int, *, area: Bytes, workers: int = 1) -> float:
        """The time of so many rounds on each worker."""
        return self._run(self._pools[workers], name, rounds, area, workers)

    def _run(self, pool: _pool.Pool, name: str, rounds: int, area: Bytes, threads: int) -> float:
        """The time of a run with so many threads, which all workers of the pool are woken for."""
        packed = struct.pack("=3q", self._numbers[name], rounds, area.nbytes)
        bindings = struct.pack("=q", address_of(area))
        each = _WORK if threads > 1 else 0.0
        started = time.perf_counter()
        pool.run(self._code.address, bindings, packed, threads, 0, (), None, each)
        return time.perf_counter() - started


def delay(alone: Sequence[float], both: Sequence[float]) -> float:
    """The seconds that the second worker begins late, from the times of one work and of two equal ones at once.

    The lower quartile of the latter counts. It is 0 if a disturbance ended between them, and at most the time of the
    work.
    """
    shortest = min(alone)
    return min(max(statistics.quantiles(both)[0] - shortest, 0.0), shortest)


def shortest_rounds(probes: Sequence[Callable[[int], float]]) -> list[float]:
    """The shortest time of a round of each probe, which runs a number of rounds and gives their time."""
    rounds = [_enough_rounds(probe) for probe in probes]
    tries = [[probe(many) / many for probe, many in zip(probes, rounds, strict=True)] for _ in range(_TRIES)]
    return [min(of_probe) for of_probe in zip(*tries, strict=True)]


def _enough_rounds(probe: Callable[[int], float]) -> int:
    """So many rounds that they take long even if nothing disturbs them."""
    rounds = 1
    while rounds < _MOST_ROUNDS and min(probe(rounds) for _ in range(_TRIES)) < _SECONDS / 2:
        rounds *= 2
    return rounds


def _paged(size: int) -> Bytes:
    """So many bytes with memory of their own: zeros may all be one page."""
    area = aligned_zeros(size)
    area[::4096] = 1
    return area


def _filled(area: Bytes, lanes: int) -> Bytes:
    """The area with vectors of indices, all different within a vector."""
    random = np.random.default_rng(0)
    for number in range(VECTORS):
        start = INDICES_AT + 4 * lanes * number
        area[start : start + 4 * lanes].view(np.uint32)[:] = random.permutation(WORDS)[:lanes]
    return area
