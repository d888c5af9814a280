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

Scratch = numpy.typing.NDArray[numpy.uint8]
RangeTask = Callable[[int, int, int], None]
"""Does `[begin, end)` with scratch memory at an address: `task(begin, end, scratch)`."""
_Job = tuple[Callable[[], None], "SimpleQueue[BaseException | None]"]
"""Something to do, and where to say how it went."""

_ALIGN = 64
_CHUNKS_PER_WORKER = 8
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

    def run(self, task: RangeTask, count: int, scratch_size: int) -> None:
        """Do `task` for all of `[0, count)`, in parts. What a part raises is raised here, once all have ended."""
        with self._lock:
            if scratch_size > self._scratch_size:
                self._grow(scratch_size)
            first = self._addresses[0]
            started = time.perf_counter()
            task(0, min(count, 1), first)
            if self.workers == 1 or (time.perf_counter() - started) * (count - 1) < _WORTH_WAKING:
                if count > 1:
                    task(1, count, first)
            else:
                self._share(task, count)

    def _share(self, task: RangeTask, count: int) -> None:
        chunk = max(1, (count - 1) // (self.workers * _CHUNKS_PER_WORKER))
        begins = iter(range(1, count, chunk))  # one `next` is atomic

        def work(worker: int) -> None:
            address = self._addresses[worker]
            for begin in begins:
                task(begin, min(begin + chunk, count), address)

        self._start()
        helpers = min(self.workers - 1, len(range(1, count, chunk)) - 1)
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        for helper in range(helpers):
            self._jobs[helper].put((partial(work, helper + 1), done))
        mine = _outcome(partial(work, 0))
        errors = [mine, *(done.get() for _ in range(helpers))]
        for error in errors:
            if error is not None:
                raise error

    def _start(self) -> None:
        while len(self._jobs) < self.workers - 1:
            jobs: SimpleQueue[_Job] = SimpleQueue()
            self._jobs.append(jobs)
            threading.Thread(target=_serve, args=(jobs,), name="tinct-cpu", daemon=True).start()

    def _grow(self, size: int) -> None:
        """New scratch memory for every worker."""
        self._scratch = [_aligned(size) for _ in range(self.workers)]
        self._addresses = [int(memory.ctypes.data) for memory in self._scratch]
        self._scratch_size = size


def _serve(jobs: SimpleQueue[_Job]) -> None:
    while True:
        job, done = jobs.get()
        done.put(_outcome(job))


def _outcome(job: Callable[[], None]) -> BaseException | None:
    """What a job raises, if anything: it belongs to the thread that asked for the job."""
    try:
        job()
    except BaseException as error:
        return error
    return None


def _aligned(size: int) -> Scratch:
    """Memory that begins at a multiple of 64."""
    memory = numpy.empty(size + _ALIGN, numpy.uint8)
    start = -int(memory.ctypes.data) % _ALIGN
    return memory[start : start + size]


_pools: dict[int, Pool] = {}
_pools_lock = threading.Lock()


def shared_pool(workers: int | None = None) -> Pool:
    """The pool of this process with that many workers; as many as it may use processors, if nothing is said."""
    count = available_processors() if workers is None else workers
    with _pools_lock:
        if count not in _pools:
            _pools[count] = Pool(count)
        return _pools[count]


def available_processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork
