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

_ALIGN = 64
_CHUNKS_PER_WORKER = 8
_WORTH_WAKING = 100e-6
"""Seconds of work below which waking the others costs more than it saves."""


class Pool:
    """Workers, of which the caller of `run` is the first. One dispatch runs at a time."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._lock = threading.Lock()
        self._jobs: list[SimpleQueue[Callable[[], None]]] = []
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()
        self._scratch: list[Scratch] = [_aligned(0) for _ in range(workers)]

    def run(self, task: RangeTask, count: int, scratch_size: int) -> None:
        """Do `task` for all of `[0, count)`, in parts. What a part raises is raised here, once all have ended."""
        with self._lock:
            addresses = [self._scratch_address(worker, scratch_size) for worker in range(self.workers)]
            started = time.perf_counter()
            task(0, min(count, 1), addresses[0])
            if self.workers == 1 or (time.perf_counter() - started) * (count - 1) < _WORTH_WAKING:
                if count > 1:
                    task(1, count, addresses[0])
            else:
                self._share(task, count, addresses)

    def _share(self, task: RangeTask, count: int, addresses: list[int]) -> None:
        chunk = max(1, (count - 1) // (self.workers * _CHUNKS_PER_WORKER))
        begins = iter(range(1, count, chunk))  # one `next` is atomic

        def work(address: int) -> None:
            for begin in begins:
                task(begin, min(begin + chunk, count), address)

        self._start()
        helpers = min(self.workers - 1, len(range(1, count, chunk)) - 1)
        for worker in range(helpers):
            self._jobs[worker].put(partial(work, addresses[worker + 1]))
        error = _outcome(partial(work, addresses[0]))
        errors = [error, *(self._done.get() for _ in range(helpers))]
        for error in errors:
            if error is not None:
                raise error

    def _start(self) -> None:
        while len(self._jobs) < self.workers - 1:
            jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
            self._jobs.append(jobs)
            threading.Thread(target=self._serve, args=(jobs,), name="tinct-cpu", daemon=True).start()

    def _serve(self, jobs: SimpleQueue[Callable[[], None]]) -> None:
        while True:
            self._done.put(_outcome(jobs.get()))

    def _scratch_address(self, worker: int, size: int) -> int:
        if self._scratch[worker].nbytes < size:
            self._scratch[worker] = _aligned(size)
        return int(self._scratch[worker].ctypes.data)


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
