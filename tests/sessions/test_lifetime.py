"""The end of buffers and sessions, forks, threads, interrupts, and memory over many rounds."""

from __future__ import annotations

import gc
import os
import threading
import time
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.interrupting import interrupted

import tinct
from tinct.backend.gpu import shared_device

ADD = tinct.load("""
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&a) { a[id.x] += 1; }
}
""")["main"]
ENDLESS = tinct.load("""
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) lane: u32) {
    loop {
        a[lane] += 1;
        if a[63] == 0xffffffff { break; }
        a[63] = 0;
    }
}
""")["main"]


def test_everything_after_the_end_is_an_error(device: str) -> None:
    with tinct.Session(device) as session:
        a = session.buffer(np.zeros(4, np.uint32))
        for _ in range(2):
            session.run(ADD, {"a": a}, threads=4)
    uses = [
        lambda: session.run(ADD, {"a": a}, threads=4),
        lambda: session.run(ADD, {"a": np.zeros(1, np.uint32)}, threads=4),
        lambda: ADD.run({"a": a}, threads=4),
        lambda: session.buffer(np.zeros(4)),
        lambda: session.adopt(np.zeros(4)),
        lambda: session.empty(np.float32, 3),
        session.wait,
        a.numpy,
        a.request,
        a.view,
        a.release,
        lambda: a.write(np.zeros(4, np.uint32)),
        session.__enter__,
    ]
    for use in uses:
        with pytest.raises(tinct.InputError, match="the session has ended"):
            use()
    session.close()
    assert "ended" in repr(session)
    assert repr(a)


def test_a_released_buffer_and_its_views(device: str) -> None:
    with tinct.Session(device) as session:
        a, b = session.buffer(np.zeros(128, np.uint32), label="a"), session.buffer(np.zeros(4, np.uint32))
        part = a.view(256)
        for buffer in (a, b, part):
            session.run(ADD, {"a": buffer}, threads=4)
        a.release()
        a.release()
        for use in (
            a.numpy,
            part.numpy,
            lambda: session.run(ADD, {"a": a}, threads=4),
            lambda: session.run(ADD, {"a": part}, threads=4),
            lambda: a.write(np.zeros(128, np.uint32)),
            a.view,
        ):
            with pytest.raises(tinct.InputError, match="a was released"):
                use()
        session.run(ADD, {"a": b}, threads=4)
        assert (b.numpy() == 2).all()


def test_releasing_an_adopted_array_brings_its_bytes(device: str) -> None:
    array = np.zeros(4, np.uint32)
    with tinct.Session(device) as session:
        a = session.adopt(array)
        session.run(ADD, {"a": a}, threads=4)
        a.release()
        assert (array == 1).all()


def test_a_time_limit_tears_what_is_written(device: str) -> None:
    if device == "gpu":
        pytest.skip("see test_gpu")
    with tinct.Session(device) as session:
        a, b = session.buffer(np.zeros(64, np.uint32), label="a"), session.buffer(np.zeros(4, np.uint32))
        with pytest.raises(tinct.DeviceError, match=r"within 0\.2 s"):
            session.run(ENDLESS, {"a": a}, threads=64, timeout=0.2)
        for use in (a.numpy, lambda: session.run(ADD, {"a": a}, threads=4), a.view(0).numpy):
            with pytest.raises(tinct.DeviceError, match="a is torn: 'main', which writes it, was stopped"):
                use()
        session.run(ADD, {"a": b}, threads=4)
        a.write(np.zeros(64, np.uint32))
        session.run(ADD, {"a": a}, threads=64)
        assert (a.numpy() == 1).all()


def test_an_interrupt_tears_what_is_written() -> None:
    array = np.zeros(64, np.uint32)
    with tinct.Session() as session:
        a = session.adopt(array)
        for _ in range(3):
            session.run(ADD, {"a": a}, threads=64)
        array[:] = 0
        a.changed()
        with interrupted(array.any):
            session.run(ENDLESS, {"a": a}, threads=64)
        with pytest.raises(tinct.DeviceError, match="is torn"):
            a.numpy()
        a.write(np.zeros(64, np.uint32))


def test_the_child_of_a_fork_may_not_use_it(device: str) -> None:
    with tinct.Session(device) as session:
        a = session.buffer(np.zeros(4, np.uint32))
        for _ in range(2):
            session.run(ADD, {"a": a}, threads=4)
        child = os.fork()
        if child == 0:
            failures = 0
            for use in (lambda: session.run(ADD, {"a": a}, threads=4), a.numpy, lambda: session.empty("f4", 1)):
                try:
                    use()
                    failures += 1
                except tinct.InputError as error:
                    failures += "belongs to the process that was forked" not in str(error)
            session.close()
            with tinct.Session("cpu") as own:
                b = own.buffer(np.zeros(4, np.uint32))
                own.run(ADD, {"a": b}, threads=4)
                failures += not (b.numpy() == 1).all()
            os._exit(failures)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        session.run(ADD, {"a": a}, threads=4)
        assert (a.numpy() == 3).all()


def test_threads_take_turns(device: str) -> None:
    count = 50 if device in ("cpu", "gpu") else 5
    with tinct.Session(device) as session:
        a = session.buffer(np.zeros(100, np.uint32))
        problems: list[BaseException] = []

        def work() -> None:
            try:
                for number in range(count):
                    session.run(ADD, {"a": a}, threads=100)
                    if number % 10 == 0:
                        values = a.numpy()
                        assert (values == values[0]).all()
            except BaseException as error:
                problems.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems
        assert (a.numpy() == 4 * count).all()


def resident(pid: int) -> int:
    """The bytes of a process that are in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def round_of(session: tinct.Session, values: np.ndarray) -> None:
    a = session.buffer(values)
    session.run(ADD, {"a": a}, threads=64)
    session.run(ADD, {"a": (None, 64)}, threads=64)
    assert a.numpy()[0] == 1


def test_buffers_that_are_dropped_leave_nothing(device: str) -> None:
    rounds = 300 if device in ("cpu", "gpu") else 30
    values = np.zeros(50_000, np.uint32)
    with tinct.Session(device) as session:
        for _ in range(20):
            round_of(session, values)
        gc.collect()
        pids = [os.getpid()] if device != "gpu" else [os.getpid(), shared_device("").worker_pid]
        before = [resident(pid) for pid in pids]
        for _ in range(rounds):
            round_of(session, values)
        gc.collect()
        grown = [resident(pid) - was for pid, was in zip(pids, before, strict=True)]
    assert max(grown) < rounds * values.nbytes / 4


def test_memory_is_freed_with_the_last_use_and_not_by_the_garbage_collector(device: str) -> None:
    gc.collect()
    gc.disable()
    try:
        with tinct.Session(device) as session:
            a, b = session.buffer(np.zeros(64, np.uint32)), session.buffer(np.zeros(256, np.uint32))
            memories = [weakref.ref(it.memory) for it in (a, b)]
            for _ in range(3):
                session.run(ADD, {"a": a}, threads=64)
                session.run(ADD, {"a": b.view(256)}, threads=64)
            del a, b
            assert [it() for it in memories] == [None, None]
            session.wait()
    finally:
        gc.enable()


def test_sessions_leave_nothing(device: str) -> None:
    if device == "hercules":
        pytest.skip("this interpreter remembers something of each run, also without a session")

    assert ADD.compilation().cpu  # not in the middle of what is measured

    def one() -> None:
        with tinct.Session(device) as session:
            round_of(session, np.zeros(64, np.uint32))
        forgotten = tinct.Session(device)
        round_of(forgotten, np.zeros(64, np.uint32))

    repeat(one, 10)
    tracemalloc.start()
    try:
        repeat(one, 10)
        sizes = [traced_bytes()]
        for _ in range(2):  # a table of the interpreter may grow in one of the two
            repeat(one, 40)
            sizes.append(traced_bytes())
        assert min(sizes[1] - sizes[0], sizes[2] - sizes[1]) < 40 * 500
    finally:
        tracemalloc.stop()


def repeat(call: Callable[[], object], rounds: int) -> None:
    for _ in range(rounds):
        call()
    gc.collect()


def traced_bytes() -> int:
    """The bytes that the library has allocated and not freed."""
    found = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "*/tinct/*")])
    return sum(it.size for it in found.statistics("filename"))


def test_a_session_that_is_dropped_frees_its_buffers_on_the_gpu(gpu: str) -> None:
    device = shared_device("")
    sent: list[list[int]] = []
    real = device.post_resident

    def counted(commands, *more, **options):
        sent.append([len(ids) for _, ids in device._unused])
        return real(commands, *more, **options)

    forgotten = tinct.Session(gpu)
    round_of(forgotten, np.zeros(64, np.uint32))
    del forgotten
    gc.collect()
    device.post_resident = counted  # type: ignore[method-assign]
    try:
        with tinct.Session(gpu) as session:
            round_of(session, np.zeros(64, np.uint32))
    finally:
        del device.post_resident  # type: ignore[method-assign]
    assert sent[0]
    assert not device._unused


def test_first_runs_end() -> None:
    """A kernel that runs often leaves baseline code, and gives the same results."""
    kernel = tinct.load(f"// another\n{ADD.shader.source.data.decode()}")["main"]
    machine_code = kernel.compilation().machine_code
    with tinct.Session() as session:
        a = session.buffer(np.zeros(64, np.uint32))
        start = time.perf_counter()
        runs = 0
        while machine_code.is_on_trial and time.perf_counter() - start < 30:
            session.run(kernel, {"a": a}, threads=64)
            runs += 1
        assert not machine_code.is_on_trial
        for _ in range(3):
            session.run(kernel, {"a": a}, threads=64)
        assert (a.numpy() == runs + 3).all()
