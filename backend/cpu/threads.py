"""The worker threads that share a dispatch: started once, one for each processor this process may use."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue

import numpy
import numpy.typing

from ...ir.fork_lock import ForkLock

Scratch = numpy.typing.NDArray[numpy.uint8]
RangeTask = Callable[[int, int], None]
"""Does the threads `[begin, end)` of a dispatch."""
Start = Callable[[int, int], RangeTask]
"""`start(worker, scratch)`: what a worker does, with memory of its own at an address. Called in the worker's thread,
when there is something for it to do.
"""
_Job = Callable[[], None]

_ALIGN = 64
_PARTS_PER_WORKER = 2
"""A worker takes this share of what is left at a time, so that the parts get smaller towards the end."""
_MOST_PARTS_PER_WORKER = 32
"""No part is a smaller share of all than that."""
_WORTH_TAKING = 100e-6
"""Seconds of work that are worth taking at all: between two parts a worker needs the interpreter's lock, and where the
other has it, waits for some 30 µs until it is woken.
"""
_LONGEST = 50e-3
"""Seconds of work in one piece, more or less: so long an interrupt may have to wait."""
_WORTH_WAKING = 100e-6
"""Seconds of work below which waking the others costs more than it saves."""


class Pool:
    """Workers, of which the caller of `run` is the first. One dispatch runs at a time."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._lock = threading.Lock()
        self._jobs: list[SimpleQueue[_Job]] = []
        self._scratch: list[Scratch] = []
        self._scratch_size = 0
        self._addresses = [0] * workers

    def run(
        self,
        start: Start,
        count: int,
        scratch_size: int = 0,
        *,
        overhead: float = 0.0,
        each: float = 0.0,
        cancel: Callable[[], None] | None = None,
    ) -> float:
        """Do all of `[0, count)`, in parts, and return the seconds each seems to take. What a part raises is raised
        here, once all have ended.

        `overhead` is what each further worker costs beyond its work, in seconds; `each` what was returned of a run like
        this one, if there was one. `cancel` is called if not all is to be done, since a part raised something or the
        caller is interrupted.
        """
        with self._lock:
            if scratch_size > self._scratch_size:
                self._grow(scratch_size)
            first = partial(start, 0, self._addresses[0])
            worth = _WORTH_WAKING + overhead
            if count > 1 and each * count >= worth:
                return self._share(start, first, _Parts(0, count, self.workers, each, cancel))
            task = first()
            started = time.perf_counter()
            task(0, 1)
            each = time.perf_counter() - started
            if each * (count - 1) >= worth:
                return self._share(start, lambda: task, _Parts(1, count, self.workers, each, cancel))
            if count > 1:
                task(1, count)
            return each

    def _share(self, start: Start, first: Callable[[], RangeTask], parts: _Parts) -> float:
        self._wake()
        waiting = _Waiting(self.workers - 1)
        for number, jobs in enumerate(self._jobs, start=1):
            jobs.put(partial(waiting.run, partial(parts.work, partial(start, number, self._addresses[number]))))
        parts.work(first)
        waiting.wait(parts)
        if parts.error is not None:
            raise parts.error
        return parts.each

    def _wake(self) -> None:
        while len(self._jobs) < self.workers - 1:
            jobs: SimpleQueue[_Job] = SimpleQueue()
            self._jobs.append(jobs)
            threading.Thread(target=_serve, args=(jobs,), name="tinct-cpu", daemon=True).start()

    def _grow(self, size: int) -> None:
        """New scratch memory for every worker."""
        self._scratch = [_aligned(size) for _ in range(self.workers)]
        self._addresses = [int(memory.ctypes.data) for memory in self._scratch]
        self._scratch_size = size


class _Parts:
    """The parts of a dispatch that are left to do, for several workers; none once one of them failed.

    Parts get smaller, the less is left, but neither too short nor too long for what a thread seems to take: as it took
    in the last part, since the first thread alone may have taken a thousand times as long as the next.
    """

    def __init__(self, begin: int, end: int, workers: int, each: float, cancel: Callable[[], None] | None) -> None:
        """Threads `[begin, end)`, each of which seems to take so many seconds."""
        self._begin = begin
        self._end = end
        self._workers = workers
        self.each = each
        self._least = (end - begin) // (workers * _MOST_PARTS_PER_WORKER)
        self._cancel = cancel
        self._lock = threading.Lock()
        self.error: BaseException | None = None

    def work(self, start: Callable[[], RangeTask]) -> None:
        """Do parts until none is left. Raises nothing: the first error is kept."""
        try:
            task: RangeTask | None = None
            while (part := self._next()) is not None:
                task = start() if task is None else task
                started = time.perf_counter()
                task(*part)
                self.each = (time.perf_counter() - started) / (part[1] - part[0])
        except BaseException as error:
            self.fail(error)

    def _next(self) -> tuple[int, int] | None:
        with self._lock:
            begin, left = self._begin, self._end - self._begin
            if self.error is not None or left == 0:
                return None
            least, most = (max(1, int(seconds / max(self.each, 1e-9))) for seconds in (_WORTH_TAKING, _LONGEST))
            share = left // (self._workers * _PARTS_PER_WORKER)
            self._begin += min(max(share, least, self._least), most, left)
            return begin, self._begin

    def fail(self, error: BaseException) -> None:
        """Stop all workers as soon as may be."""
        if self.error is None:
            self.error = error
        if self._cancel is not None:
            self._cancel()


class _Waiting:
    """Waits for helpers, whatever happens: they are at work on memory that the caller holds."""

    def __init__(self, helpers: int) -> None:
        self._left = helpers
        self._lock = threading.Lock()
        self._all_done = threading.Event()
        if helpers == 0:
            self._all_done.set()

    def run(self, job: Callable[[], None]) -> None:
        """In a helper: the job, and say that it has ended."""
        job()
        with self._lock:
            self._left -= 1
            if self._left == 0:
                self._all_done.set()

    def wait(self, parts: _Parts) -> None:
        """In the caller: until all have ended; an interrupt makes that soon."""
        while not self._all_done.is_set():
            try:
                self._all_done.wait()
            except BaseException as interrupt:
                parts.fail(interrupt)


def _serve(jobs: SimpleQueue[_Job]) -> None:
    while True:
        jobs.get()()


def _aligned(size: int) -> Scratch:
    """Memory that begins at a multiple of 64."""
    memory = numpy.empty(size + _ALIGN, numpy.uint8)
    start = -int(memory.ctypes.data) % _ALIGN
    return memory[start : start + size]


class _Pools:
    """The pools of this process, by their number of workers."""

    def __init__(self) -> None:
        self._pools: dict[int, Pool] = {}
        self._lock = ForkLock()
        os.register_at_fork(after_in_child=self._forget)

    def of(self, workers: int) -> Pool:
        """The pool with that many workers, started when it is first needed."""
        pool = self._pools.get(workers)
        if pool is None:
            with self._lock:
                pool = self._pools.setdefault(workers, Pool(workers))
        return pool

    def _forget(self) -> None:
        """In the child of a fork: threads do not survive it."""
        self._pools = {}


_pools = _Pools()


def shared_pool(workers: int | None = None) -> Pool:
    """The pool of this process with that many workers; as many as it may use processors, if nothing is said."""
    return _pools.of(available_processors() if workers is None else workers)


def available_processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
