"""Where the threads of a software driver run."""

import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tinct.backend.gpu.driver_threads import BusyInterval, SharingPolicy, place_other_threads

MICROSECOND = 1e-6


def interval(work: float, duration: float, dispatches: int = 100) -> BusyInterval:
    """An interval of dispatches that each take so many microseconds of work, and of time."""
    return BusyInterval(dispatches, work * dispatches * MICROSECOND, duration * dispatches * MICROSECOND)


def test_small_dispatches_share_a_processor() -> None:
    policy = SharingPolicy(2)
    policy.learn(interval(work=10, duration=34))
    assert policy.shares
    policy.learn(interval(work=6, duration=8))
    assert policy.shares


def test_large_dispatches_use_all_processors() -> None:
    policy = SharingPolicy(2)
    policy.learn(interval(work=1000, duration=530))
    assert not policy.shares


def test_threads_are_spread_when_dispatches_grow() -> None:
    policy = SharingPolicy(2)
    policy.learn(interval(work=10, duration=34))
    # Waking takes 29 µs, so that two processors take 34 µs where one takes 10, and 59 where one takes 60.
    policy.learn(interval(work=57, duration=58))
    assert policy.shares
    policy.learn(interval(work=60, duration=61))
    assert not policy.shares


def test_more_processors_share_less() -> None:
    policy = SharingPolicy(16)
    policy.learn(interval(work=32, duration=30))
    assert not policy.shares
    policy.learn(interval(work=28, duration=30))
    assert policy.shares


def test_a_slow_host_is_not_taken_for_waking() -> None:
    policy = SharingPolicy(2)
    policy.learn(interval(work=120, duration=5000))
    assert not policy.shares


@contextmanager
def waiting_thread() -> Generator[int]:
    """The number of a thread that waits."""
    end, started = threading.Event(), threading.Event()

    def wait() -> None:
        started.set()
        end.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    started.wait()
    try:
        assert thread.native_id is not None
        yield thread.native_id
    finally:
        end.set()
        thread.join()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process place its threads")
def test_all_threads_but_the_caller_are_placed() -> None:
    allowed = os.sched_getaffinity(0)
    one = {max(allowed)}
    with waiting_thread() as thread:
        try:
            place_other_threads(one)
            assert os.sched_getaffinity(thread) == one
            assert os.sched_getaffinity(0) == allowed
        finally:
            place_other_threads(allowed)
        assert os.sched_getaffinity(thread) == allowed
