"""The pools of this process: worker threads, started once, one for each processor that it may use."""

from __future__ import annotations

import os
from typing import Final

from ...base.forks import ForkLock
from . import _pool

_GAIN: Final = 1.5
"""A worker is woken for work that takes so many times as long as the worker takes to begin."""
_LEAST_WORTH: Final = 2e-5
_MOST_WORTH: Final = 1e-3
_LINGER: Final = 2.0
"""Whoever waits for another thread does so without sleeping for so many times the seconds that one takes to begin: if
nothing comes until then, at most this many times the time has been spent that waking it would have taken.
"""
_LONGEST: Final = 1e-4
"""The most seconds of that."""


class _Pools:
    """The pools of this process, by their number of workers; None stands for as many as there are processors."""

    def __init__(self) -> None:
        self._pools: dict[int | None, _pool.Pool] = {}
        self._lock = ForkLock()
        os.register_at_fork(after_in_child=self._forget)

    def of(self, workers: int | None) -> _pool.Pool:
        """The pool with that many workers, made when it is first needed."""
        pool = self._pools.get(workers)
        if pool is None:
            with self._lock:
                number = available_processors() if workers is None else workers
                pool = self._pools.get(number) or _pool.Pool(number, *_waits())
                self._pools |= {number: pool, workers: pool}
        return pool

    def _forget(self) -> None:
        """Forget all pools in the child of a fork, which has no other threads."""
        self._pools = {}


def _waits() -> tuple[float, float]:
    """The least seconds of work that a sleeping worker is woken for, and the seconds until an idle one sleeps."""
    from .machine import costs_so_far  # measuring takes a pool

    wake_up = costs_so_far().wake_up
    return min(max(_GAIN * wake_up, _LEAST_WORTH), _MOST_WORTH), min(_LINGER * wake_up, _LONGEST)


_pools = _Pools()


def shared_pool(workers: int | None = None) -> _pool.Pool:
    """The pool of this process with that many workers; without a number, as many as the process could use processors at
    its first request (as OpenMP's runtimes do: asking the system takes a fifth of a small dispatch).
    """
    return _pools.of(workers)


def available_processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
