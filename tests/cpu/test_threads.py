"""The pool: forks of the process, threads that dispatch at the same time, interrupts."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, compile_entry
from tinct.backend.cpu.threads import Pool, RangeTask
from tinct.frontend import load_program
from tinct.ir.core import from_program
from tinct.ir.fork_lock import ForkLock
from tinct.ir.interpreter_state import deep_nesting
from tinct.ir.source import Source
from tinct.transforms.to_hercules import translate

COUNTER = """
@group(0) @binding(0) var<storage, read_write> total: atomic<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  var v = id.x;
  for (var turn = 0u; turn < 200u; turn++) { v = v * 1664525u + 1013904223u; }
  out[id.x % 4096u] = v;
  atomicAdd(&total, 1u);
}
"""
GROUPS = 2000


@pytest.fixture(scope="module")
def counter() -> CompiledKernel:
    return compile_entry(translate(from_program(load_program(Source("test.wgsl", COUNTER.encode()))), "main"))


def count(counter: CompiledKernel) -> int:
    total, out = np.zeros(1, np.uint32), np.zeros(4096, np.uint32)
    counter.run([total.view(np.uint8), out.view(np.uint8)], (GROUPS, 1, 1), workers=3)
    return int(total[0])


def test_the_child_of_a_fork_has_workers_of_its_own(counter: CompiledKernel) -> None:
    assert count(counter) == 64 * GROUPS
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a child that waits for threads of its parent would wait for ever
        try:
            os.write(writer, str(count(counter)).encode())
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert os.read(reader, 100) == str(64 * GROUPS).encode()
    assert count(counter) == 64 * GROUPS


def test_many_threads_dispatch_at_once(counter: CompiledKernel) -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(count(counter))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [64 * GROUPS] * 6


@pytest.mark.parametrize("workers", [1, 3])
def test_an_interrupt_ends_a_dispatch_once_all_workers_have_stopped(workers: int) -> None:
    pool, busy, parts = Pool(workers), set[int](), list[int]()
    cancelled = threading.Event()

    def start(worker: int, _scratch: int) -> RangeTask:
        def task(begin: int, _end: int) -> None:
            busy.add(worker)
            parts.append(begin)
            if begin > 0 and worker == 0:
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.005)
            busy.discard(worker)

        return task

    with pytest.raises(KeyboardInterrupt):
        pool.run(start, 100_000, cancel=cancelled.set)
    assert not busy - {0}
    assert cancelled.is_set()
    done = len(parts)
    time.sleep(0.05)
    assert len(parts) == done < 1000
    again: list[int] = []
    pool.run(lambda _worker, _scratch: lambda begin, end: again.extend(range(begin, end)), 50)
    assert sorted(again) == list(range(50))


def test_parts_cover_everything_once_and_get_smaller() -> None:
    pool, sizes = Pool(4), list[tuple[int, int]]()

    def task(begin: int, end: int) -> None:
        sizes.append((begin, end))
        time.sleep(1e-4 * (end - begin))

    pool.run(lambda _worker, _scratch: task, 500)
    ordered = sorted(sizes)
    assert [begin for begin, _ in ordered[1:]] == [end for _, end in ordered[:-1]]
    assert (ordered[0][0], ordered[-1][1]) == (0, 500)
    shares = [end - begin for begin, end in ordered[1:]]
    assert shares[-1] < max(shares)
    assert max(shares) <= 500 // 8


def test_what_is_known_of_the_last_run_is_not_found_out_again() -> None:
    pool, sizes = Pool(2), list[tuple[int, int]]()

    def task(begin: int, end: int) -> None:
        sizes.append((begin, end))
        time.sleep(1e-5 * (end - begin))

    each = pool.run(lambda _worker, _scratch: task, 1000)
    assert (0, 1) in sizes
    assert each >= 1e-5
    sizes.clear()
    pool.run(lambda _worker, _scratch: task, 1000, each=each)
    assert (0, 1) not in sizes
    assert sum(end - begin for begin, end in sizes) == 1000


def test_a_slow_first_thread_does_not_make_many_parts() -> None:
    """What a part costs beyond its threads is not spent on parts of a single, quick one."""
    parts: list[tuple[int, int]] = []

    def start(worker: int, scratch: int) -> RangeTask:
        def task(begin: int, end: int) -> None:
            parts.append((begin, end))
            if begin == 0:
                time.sleep(1e-3)

        return task

    Pool(2).run(start, 1 << 20)
    assert len(parts) < 100
    ends = sorted(parts)
    assert [begin for begin, _ in ends] == [0, *(end for _, end in ends[:-1])]
    assert ends[-1][1] == 1 << 20


def test_a_fork_while_another_thread_compiles() -> None:
    """The child can compile, whatever LLVM was doing."""
    entries = [translate(from_program(load_program(Source("test.wgsl", COUNTER.encode()))), "main") for _ in range(2)]
    is_over = threading.Event()

    def compile_again() -> None:
        while not is_over.is_set():
            compile_entry(entries[0])

    thread = threading.Thread(target=compile_again)
    thread.start()
    try:
        for _ in range(5):
            time.sleep(0.02)
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                os._exit(0 if count(compile_entry(entries[1])) == 64 * GROUPS else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        is_over.set()
        thread.join()


def test_locks_and_settings_are_free_in_the_child_of_a_fork() -> None:
    lock, limit = ForkLock(), sys.getrecursionlimit()
    is_held, is_over = threading.Event(), threading.Event()

    def hold() -> None:
        with lock, deep_nesting():
            is_held.set()
            is_over.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait(60)
    assert sys.getrecursionlimit() > limit
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        with lock:
            os._exit(0 if sys.getrecursionlimit() == limit else 1)
    is_over.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
