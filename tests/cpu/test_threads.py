"""The pool: forks of the process, threads that dispatch at the same time, interrupts."""

from __future__ import annotations

import ctypes
import operator
import os
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

import numpy as np
import pytest
from tests.interrupting import interrupted

from tinct.backend.cpu import CompiledKernel, compile_entry
from tinct.backend.cpu._pool import Pool
from tinct.base.errors import DeviceError
from tinct.base.forks import ForkLock
from tinct.base.interpreter_state import deep_nesting
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
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
LONG = (65535, 65535, 1)  # takes about a minute


@pytest.fixture(scope="module")
def counter() -> CompiledKernel:
    return compiled(COUNTER)


def compiled(text: str) -> CompiledKernel:
    return compile_entry(translate(build(load_program(Source("test.wgsl", text.encode()))), "main"))


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
def test_an_interrupt_ends_a_dispatch_once_all_workers_have_stopped(counter: CompiledKernel, workers: int) -> None:
    total, out = np.zeros(1, np.uint32), np.zeros(4096, np.uint32)
    bound = counter.bind([total.view(np.uint8), out.view(np.uint8)], LONG)
    with interrupted(out.any):
        bound.run(workers=workers)
    out[:] = 0
    time.sleep(0.05)
    assert not out.any()
    total[:] = 0
    assert count(counter) == 64 * GROUPS


ENDLESS = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) local: u32) {
  var turn = 0u;
  while out[0] != 1u { turn += 2u; out[local] = turn; }
}
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_ends_a_workgroup_that_would_not(workers: int) -> None:
    out = np.zeros(64, np.uint32)
    endless = compiled(ENDLESS).bind([out.view(np.uint8)], (1, 1, 1))
    before = signal.getsignal(signal.SIGINT)
    for _ in range(2):
        out[:] = 0
        with interrupted(out.any):
            endless.run(workers=workers)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_that_raises_nothing_does_not_end_a_dispatch(counter: CompiledKernel) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: seen.append(number))
    try:
        for _ in range(20):
            timer = threading.Timer(0.001, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            assert count(counter) == 64 * GROUPS
            timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT] * 20


@contextmanager
def beside_a_long_dispatch(counter: CompiledKernel) -> Generator[threading.Thread]:
    """While another thread runs a dispatch of many workgroups, which is ended after four seconds."""
    total, out = np.zeros(1, np.uint32), np.zeros(4096, np.uint32)
    errors: list[DeviceError] = []

    def dispatch_for_long() -> None:
        bound = counter.bind([total.view(np.uint8), out.view(np.uint8)], LONG)
        try:
            bound.run(workers=3, timeout=4)
        except DeviceError as error:
            errors.append(error)

    busy = threading.Thread(target=dispatch_for_long)
    busy.start()
    while not out.any():
        time.sleep(0.01)
    yield busy
    busy.join()
    assert len(errors) == 1


def test_short_dispatches_do_not_wait_for_a_long_one_of_another_thread(counter: CompiledKernel) -> None:
    alone = fastest_count(counter)
    with beside_a_long_dispatch(counter) as busy:
        beside = fastest_count(counter)
        assert busy.is_alive()
    assert beside < 4 * alone  # about twice, since each of the two threads has a half of the processors


def fastest_count(counter: CompiledKernel) -> float:
    """The least of several times, since other programs may take the processors for a while."""
    seconds: list[float] = []
    for _ in range(10):
        start = time.perf_counter()
        assert count(counter) == 64 * GROUPS
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def test_a_dispatch_beside_another_one_can_be_interrupted(counter: CompiledKernel) -> None:
    total, out = np.zeros(1, np.uint32), np.zeros(4096, np.uint32)
    bound = counter.bind([total.view(np.uint8), out.view(np.uint8)], LONG)
    with beside_a_long_dispatch(counter) as busy:
        with interrupted(out.any):
            bound.run(workers=3)
        assert busy.is_alive()
    assert count(counter) == 64 * GROUPS


@pytest.fixture(params=[0.0, 2e-3], ids=["workers sleep", "workers linger"])
def lingering(request: pytest.FixtureRequest) -> float:
    """The seconds until workers sleep."""
    seconds: float = request.param
    return seconds


def test_workers_take_parts_of_several_dispatches_in_turn(lingering: float) -> None:
    """More callers than one leave a place for some worker, which helps all of them."""
    pool, helped, lock = Pool(4, 1e-4, lingering), dict[int, str](), threading.Lock()
    callers: set[int] = set()

    def dispatch(name: str) -> None:
        def task(begin: int, end: int) -> None:
            with lock:
                helped[threading.get_ident()] = helped.get(threading.get_ident(), "") + name
            time.sleep(1e-3 * (end - begin))

        callers.add(threading.get_ident())
        run(pool, task, 400)

    threads = [threading.Thread(target=dispatch, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    others = [names for ident, names in helped.items() if ident not in callers]
    assert any("aba" in names or "bab" in names for names in others), others


def test_callers_count_as_workers(lingering: float) -> None:
    """So no more threads compute than a pool has workers, once each has ended its part."""
    pool, now, most, lock = Pool(2, 1e-4, lingering), 0, 0, threading.Lock()
    begun = threading.Barrier(2)

    def task(begin: int, end: int) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now if begin >= 100 else 0)
        time.sleep(1e-3 * (end - begin))
        with lock:
            now -= 1

    def dispatch() -> None:
        begun.wait()
        run(pool, task, 300)

    threads = [threading.Thread(target=dispatch) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2


ENTRY = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, *[ctypes.c_uint64] * 2, ctypes.c_void_p, ctypes.c_bool)


def run(
    pool: Pool,
    task: Callable[[int, int], object],
    count: int,
    *,
    scratch: int = 0,
    each: float = 0.0,
) -> float:
    """Let the pool call Python, which is no less code than a kernel's."""
    entry = ENTRY(lambda _bindings, _numbers, begin, end, at, _shared: at_memory(at, scratch) and task(begin, end))
    address = ctypes.cast(entry, ctypes.c_void_p).value
    assert address is not None
    return pool.run(address, b"", b"", count, scratch, (), None, each)


def at_memory(address: int | None, scratch: int) -> bool:
    """Whether the scratch memory is whole; it is marked as this worker's."""
    if scratch == 0:
        return True
    assert address is not None
    assert address % 64 == 0
    memory = (ctypes.c_uint64 * (scratch // 8)).from_address(address)
    if threading.get_ident() not in marks:
        marks[threading.get_ident()] = address
        memory[:] = [threading.get_ident()] * len(memory)
    return all(it == threading.get_ident() for it in memory)


marks: dict[int, int] = {}


def test_each_worker_has_memory_of_its_own(lingering: float) -> None:
    marks.clear()
    done: list[int] = []

    def task(begin: int, end: int) -> None:
        time.sleep(2e-3 * (end - begin))
        done.extend(range(begin, end))

    run(Pool(3, 1e-4, lingering), task, 50, scratch=256)
    assert sorted(done) == list(range(50))
    assert len(set(marks.values())) == len(marks) == 3


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not say where threads may run")
def test_other_workers_stay_off_the_processor_of_the_caller(lingering: float) -> None:
    """Where the system wakes them there, they wait behind the caller for milliseconds."""
    mine, caller, seen = os.sched_getaffinity(0), threading.get_ident(), dict[int, set[int]]()

    def task(begin: int, end: int) -> None:
        seen[threading.get_ident()] = os.sched_getaffinity(0)
        time.sleep(1e-3 * (end - begin))

    pool = Pool(2, 1e-4, lingering)
    for _ in range(3):
        run(pool, task, 20)
    assert seen.pop(caller) == mine == os.sched_getaffinity(0)
    (other,) = seen.values()
    assert len(other) == max(1, len(mine) - 1)
    assert other <= mine


def test_parts_cover_everything_once_and_get_smaller(lingering: float) -> None:
    pool, sizes = Pool(4, 1e-4, lingering), list[tuple[int, int]]()

    def task(begin: int, end: int) -> None:
        sizes.append((begin, end))
        time.sleep(1e-4 * (end - begin))

    run(pool, task, 500)
    ordered = sorted(sizes)
    assert [begin for begin, _ in ordered[1:]] == [end for _, end in ordered[:-1]]
    assert (ordered[0], ordered[-1][1]) == ((0, 1), 500)
    shares = [end - begin for begin, end in ordered[1:]]
    assert shares[-1] < max(shares)
    assert max(shares) <= 500 // 8


def test_what_is_known_of_the_last_run_is_not_found_out_again() -> None:
    pool, sizes = Pool(2), list[tuple[int, int]]()

    def task(begin: int, end: int) -> None:
        sizes.append((begin, end))
        time.sleep(1e-5 * (end - begin))

    each = run(pool, task, 1000)
    assert (0, 1) in sizes
    assert each >= 1e-5
    sizes.clear()
    run(pool, task, 1000, each=each)
    assert (0, 1) not in sizes
    assert sum(end - begin for begin, end in sizes) == 1000


def test_a_slow_first_thread_does_not_make_many_parts() -> None:
    """What a part costs beyond its threads is not spent on parts of a single, quick one."""
    parts: list[tuple[int, int]] = []

    def task(begin: int, end: int) -> None:
        parts.append((begin, end))
        if begin == 0:
            time.sleep(1e-3)

    run(Pool(2), task, 1 << 20)
    assert len(parts) < 100
    ends = sorted(parts)
    assert [begin for begin, _ in ends] == [0, *(end for _, end in ends[:-1])]
    assert ends[-1][1] == 1 << 20


def test_quick_first_threads_do_not_leave_all_else_to_one_worker(lingering: float) -> None:
    """Workgroups that return at once say little about the others."""
    workers = set[int]()

    def task(begin: int, end: int) -> None:
        workers.add(threading.get_ident())
        time.sleep(1e-3 * max(0, end - max(begin, 10)))

    run(Pool(2, 1e-4, lingering), task, 60)
    assert len(workers) == 2


@pytest.mark.parametrize("lingers", [True, False])
def test_a_worker_that_lingers_is_called_for_less_work(lingers: bool) -> None:
    pool, workers = Pool(2, 10.0, 60.0 if lingers else 0.0), set[int]()

    def task(begin: int, end: int) -> None:
        workers.add(threading.get_ident())
        time.sleep(1e-3 * (end - begin))

    run(pool, task, 50, each=1.0)
    assert len(workers) == 2, "50 s of work are worth waking one"
    workers.clear()
    run(pool, task, 50, each=1e-3)
    assert len(workers) == (2 if lingers else 1)


@pytest.mark.parametrize(("alone", "together", "is_alone"), [(1e-4, 2e-2, True), (2e-2, 1e-4, False)])
def test_one_worker_does_what_is_quicker_then(alone: float, together: float, is_alone: bool) -> None:
    """Where threads wait for each other's memory, two workers may take longer than one."""
    pool, pace, found = Pool(2), bytearray(16), list[tuple[int, bool, int]]()

    def task(_bindings: int, _numbers: int, begin: int, end: int, _scratch: int, is_shared: bool) -> None:
        found.append((threading.get_ident(), is_shared, end - begin))
        time.sleep((together if is_shared else alone) * (end - begin))

    entry, each = ENTRY(task), 0.0
    address = ctypes.cast(entry, ctypes.c_void_p).value
    assert address is not None
    ways = list[set[bool]]()
    for _ in range(4):
        found.clear()
        each = pool.run(address, b"", b"", 40, 0, (), None, each, pace)
        assert sum(count for *_, count in found) == 40
        assert {thread for thread, is_shared, _ in found if not is_shared} <= {threading.get_ident()}
        ways.append({is_shared for _, is_shared, _ in found})
    assert ways[0] == {False, True}  # both are tried
    assert ways[-1] == {False} if is_alone else True in ways[-1]
    assert all(it > 0 for it in struct.unpack("2d", pace))


@pytest.mark.parametrize("workers", [1, 2])
def test_work_that_is_not_worth_a_second_worker_is_not_shared(workers: int) -> None:
    pool, found = Pool(workers), set[bool]()
    entry = ENTRY(lambda *given: found.add(given[-1]))
    address = ctypes.cast(entry, ctypes.c_void_p).value
    assert address is not None
    for _ in range(3):
        pool.run(address, b"", b"", 10, 0, (), None, 0.0, bytearray(16))
    assert found == {False}
    pool.run(address, b"", b"", 10, 0, (), None, 0.0)
    assert found == {False, True}


def test_no_threads_are_no_work() -> None:
    called: list[int] = []
    assert run(Pool(2), lambda begin, _end: called.append(begin), 0) == 0
    assert not called


KINDS: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "add": (0, lambda a, b: (a + b) % (1 << 32)),
    "and": ((1 << 32) - 1, operator.and_),
    "or": (0, operator.or_),
    "xor": (0, operator.xor),
    "smin": ((1 << 31) - 1, lambda a, b: min(a, b, key=as_signed)),
    "smax": (1 << 31, lambda a, b: max(a, b, key=as_signed)),
    "umin": ((1 << 32) - 1, min),
    "umax": (0, max),
}


def as_signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


@pytest.mark.parametrize("kind", KINDS)
def test_private_copies_begin_with_the_identity_and_are_merged(kind: str) -> None:
    identity, combine = KINDS[kind]
    words = [5, 0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678]
    target = np.array(words, np.uint32)
    other = np.array([1, 2, 3], np.uint32)
    operands = [0xFFFFFFF0, 3, 0x80000001, 0x7FFFFFFE, 0x0F0F0F0F, 0x87654321]
    firsts: dict[int, list[int]] = {}

    def entry(bindings: int, _numbers: int, begin: int, end: int, *_: int) -> None:
        own, shared = (ctypes.c_uint64 * 2).from_address(bindings)
        assert shared == other.ctypes.data
        copy = (ctypes.c_uint32 * 6).from_address(own)
        if own not in firsts:
            firsts[own] = list(copy)
            for index, operand in enumerate(operands):
                copy[index] = combine(copy[index], operand)
        time.sleep(1e-3 * (end - begin))

    pool, callback = Pool(3), ENTRY(entry)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    bindings = struct.pack("2Q", target.ctypes.data, other.ctypes.data)
    pool.run(address, bindings, b"", 100, 0, ((0, kind, 24),), None, 0.0)
    assert firsts.pop(target.ctypes.data) == words
    assert list(firsts.values()) == [[identity] * 6] * 2
    expected = words
    for _ in range(3):
        expected = [combine(a, b) for a, b in zip(expected, operands, strict=True)]
    assert target.tolist() == expected


def test_arguments_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match="a pool has 1 to 65536 workers, not 0"):
        Pool(0)
    with pytest.raises(TypeError, match="a pace is a bytearray of 16 bytes or None, not bytearray"):
        Pool(1).run(0, b"", b"", 1, 0, (), None, 0.0, bytearray(8))
    for privates in (((0, "add", 4),), ((0, "nand", 4),)):
        with pytest.raises(ValueError, match="no binding 0, or no kind"):
            Pool(1).run(0, b"", b"", 1, 0, privates, None, 0.0)
    with pytest.raises(MemoryError):
        Pool(1).run(0, b"", b"", 1, 1 << 60, (), None, 0.0)


def test_a_fork_while_another_thread_compiles() -> None:
    """The child can compile, whatever LLVM was doing."""
    entries = [translate(build(load_program(Source("test.wgsl", COUNTER.encode()))), "main") for _ in range(2)]
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
