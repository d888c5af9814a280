"""On which processors the threads of a software driver run. Lives in the worker process only.

A software driver hands each dispatch from one thread to others, and waits for them. Where these threads are on several
processors, each dispatch wakes processors that sleep: with lavapipe in a virtual machine of two processors, a dispatch
of 64 invocations takes 34 µs, and 8 µs where all threads share one processor. So they share one while the work of a
dispatch is less than waking costs. Both are measured whenever the driver has done all that it was given.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from dataclasses import dataclass
from typing import Final

_LARGEST_WORK: Final = 100e-6
"""Processor seconds of a dispatch beyond which the threads are spread over all processors, whatever waking costs."""


@dataclass(frozen=True, slots=True)
class BusyInterval:
    """From the first dispatch that an idle driver is given until it is idle again.

    `work` is the processor time in seconds of all threads of the driver, `duration` the time by the clock.
    """

    dispatches: int
    work: float
    duration: float


class SharingPolicy:
    """Decides whether the threads of a driver share one processor, on a machine of several `processors`."""

    def __init__(self, processors: int) -> None:
        self.shares = False
        self._processors = processors
        self._largest = 0.0
        """The processor seconds of a dispatch up to which sharing is faster, as found before the threads shared."""

    def learn(self, interval: BusyInterval) -> None:
        """Decide for the dispatches to come.

        On p processors, the driver takes at least a p-th of the work, and what it takes beyond is waking, or waiting
        for the host. On one processor it takes the time of the work.
        """
        work = interval.work / interval.dispatches
        if not self.shares:
            waking = (interval.duration - interval.work / self._processors) / interval.dispatches
            self._largest = min(_LARGEST_WORK, waking * self._processors / (self._processors - 1))
        self.shares = work < self._largest


class DriverThreads:
    """Places all threads of this process but the one that makes these calls."""

    def __init__(self) -> None:
        self._processors = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []
        self._policy = SharingPolicy(len(self._processors))
        self._are_on_one = False
        self._dispatches = 0
        self._start = self._work_at_start = 0.0

    def submitted(self, dispatches: int) -> None:
        """So many dispatches are being handed to the driver."""
        if self._dispatches == 0:
            self._start, self._work_at_start = time.perf_counter(), _work()
        self._dispatches += dispatches

    def finished(self) -> None:
        """The driver has done all that it was given."""
        if self._dispatches and len(self._processors) > 1:
            duration, work = time.perf_counter() - self._start, _work() - self._work_at_start
            self._policy.learn(BusyInterval(self._dispatches, work, duration))
            self._place()
        self._dispatches = 0

    def spread(self) -> None:
        """Let the threads use all processors, for work that may be of another kind than what was measured."""
        self._policy.shares, self._dispatches = False, 0
        self._place()

    def _place(self) -> None:
        """Place the threads as the policy says, unless they are placed so."""
        if self._policy.shares == self._are_on_one:
            return
        self._are_on_one = self._policy.shares
        # By the number of the process, so that several workers do not share one processor.
        one = self._processors[os.getpid() % len(self._processors)]
        place_other_threads({one} if self._are_on_one else set(self._processors))


def place_other_threads(processors: set[int]) -> None:
    """Let all threads of this process but the calling one run on these processors only, as far as that is allowed."""
    if sys.platform != "linux":
        return
    own = threading.get_native_id()
    for thread in map(int, os.listdir("/proc/self/task")):
        if thread != own:
            with contextlib.suppress(OSError):  # the thread has ended, or a sandbox forbids it
                os.sched_setaffinity(thread, processors)


def _work() -> float:
    """Processor seconds of the other threads of this process so far."""
    return time.process_time() - time.thread_time()
