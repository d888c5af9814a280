"""Machine code is stopped in time, wherever it is, by time limits and interrupts; whatever else the program does."""

from __future__ import annotations

import faulthandler
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tinct.backend.cpu import BoundKernel, CompiledKernel, CpuOptions, compile_entry
from tinct.backend.cpu._pool import Pool, Stop
from tinct.backend.cpu.emit import Tier
from tinct.base.errors import DeviceError
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.to_hercules import translate

LATEST = 0.25
"""Seconds after which a kernel that is to be stopped has ended."""
HEAD = """
struct Params { n: u32, m: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
var<workgroup> shared_words: array<f32, 64>;
@compute @workgroup_size(64) fn main(
    @builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32
) {
    var a = f32(id.x) + f32(p.n);
"""
LONG = {
    "counted, with functions": "for (var i = 0u; i < 4000000000u; i++) { a = sin(a) + cos(a); }",
    "counted to a uniform": "for (var i = 0u; i < p.n; i++) { a = a * 1.0001 + 0.5; }",
    "nested": """for (var i = 0u; i < 65536u; i++) {
        for (var j = 0u; j < 65536u; j++) { a = a * 0.5 + f32(j); } }""",
    "memory": "for (var i = 0u; i < p.n; i++) { out[(id.x * 7u + i) % arrayLength(&out)] += 1.0; }",
    "barriers": """for (var i = 0u; i < p.n; i++) {
        shared_words[local] = a; workgroupBarrier();
        a += shared_words[(local + 1u) % 64u]; workgroupBarrier(); }""",
    "divergent": """var k = id.x; for (var i = 0u; i < p.n - local; i++) {
        if (k & 1u) == 1u { k = k * 3u + 1u; a += sqrt(f32(k)); } else { k /= 2u; } }""",
    "one lane": "if local == 5u { for (var i = 0u; i < p.n; i++) { out[i % 1024u] = exp(out[i % 1024u]); } }",
    "large variables": """for (var i = 0u; i < p.n; i++) {
        var x: array<f32, 4096>; x[(i * 31u + local) % 4096u] = 1.0; a += x[(i * 17u) % 4096u]; }""",
    "counted down": "for (var i = p.n; i > 0u; i--) { a = fract(a * 1.5) + f32(i & 3u); }",
    "no effects": "for (var i = 0u; i < p.n; i++) { for (var j = 0u; j < p.n; j++) { a += f32(i ^ j); } }",
}
ENDLESS = "while a >= 0.0 || a < 0.0 { a = fract(a + 0.1); }"


def compiled(body: str, tier: Tier = "gang") -> CompiledKernel:
    text = f"{HEAD}{body}\nout[id.x % arrayLength(&out)] = a; }}"
    return compile_entry(translate(build(load_program(Source("test.wgsl", text.encode()))), "main"), CpuOptions(tier))


def bound(kernel: CompiledKernel, workgroups: int = 1) -> BoundKernel:
    params, out = np.array([0xFFFFFFF0, 0], np.uint32), np.ones(4096, np.float32)
    return kernel.bind([params.view(np.uint8), out.view(np.uint8)], (workgroups, 1, 1))


def lateness(run: Callable[[], object], due: float) -> float:
    """Seconds from when it was due until a run had been stopped."""
    start = time.perf_counter()
    with pytest.raises(DeviceError, match="did not end within"):
        run()
    return time.perf_counter() - start - due


@pytest.mark.parametrize("tier", ["gang", "lane", "baseline"])
@pytest.mark.parametrize("body", LONG.values(), ids=LONG)
def test_time_limits_hold(body: str, tier: Tier) -> None:
    kernel = compiled(body, tier)
    for workgroups, workers in ((1, 1), (1, 2), (5000, 2)):
        limited = partial(bound(kernel, workgroups).run, workers=workers, timeout=0.01)
        assert statistics.median(lateness(limited, 0.01) for _ in range(3)) < LATEST


def test_many_time_limits_in_a_row() -> None:
    endless, short = bound(compiled(ENDLESS), 3), bound(compiled("a = 0.0;"), 3)
    late: list[float] = []
    threads = threading.active_count()
    for turn in range(1000):
        late.append(lateness(lambda: endless.run(timeout=0.001), 0.001))
        if turn == 10:
            threads = threading.active_count()
            files = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
        short.run()
    assert statistics.median(late) < LATEST
    assert threading.active_count() == threads
    assert not Path("/proc/self/fd").exists() or len(os.listdir("/proc/self/fd")) == files


def test_several_threads_are_stopped_each_in_its_time() -> None:
    endless, late = compiled(ENDLESS), list[float]()

    def run(limit: float, workers: int) -> None:
        own = bound(endless, 2)
        late.extend(lateness(lambda: own.run(workers=workers, timeout=limit), limit) for _ in range(10))

    threads = [threading.Thread(target=run, args=(0.01 * number, number)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(late) == 30
    assert statistics.median(late) < LATEST


def test_a_dispatch_that_waits_for_another_is_stopped_too() -> None:
    endless = compiled(ENDLESS)
    other = threading.Thread(target=lambda: lateness(lambda: bound(endless).run(workers=2, timeout=1.5), 1.5))
    other.start()
    time.sleep(0.2)
    assert lateness(lambda: bound(endless).run(workers=2, timeout=0.1), 0.1) < 1
    assert other.is_alive()
    other.join()


@pytest.mark.parametrize("body", LONG.values(), ids=LONG)
def test_interrupts_end_any_loop(body: str) -> None:
    run = bound(compiled(body), 50)
    for workers in (1, 2):
        with interrupted_after(0.05) as sent, pytest.raises(KeyboardInterrupt):
            run.run(workers=workers)
        assert time.perf_counter() - sent[0] < 1


class interrupted_after:
    """Sends this process an interrupt after so many seconds; gives the list in which the time of that will be."""

    def __init__(self, seconds: float) -> None:
        self._sent: list[float] = []
        self._timer = threading.Timer(seconds, self._send)

    def _send(self) -> None:
        self._sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    def __enter__(self) -> list[float]:
        self._timer.start()
        return self._sent

    def __exit__(self, *_: object) -> None:
        self._timer.join()


def test_an_interrupt_is_for_the_main_thread() -> None:
    """What another thread runs goes on, as Python code would."""
    endless, late = compiled(ENDLESS), list[float]()
    other = threading.Thread(target=lambda: late.append(lateness(lambda: bound(endless).run(timeout=1), 1)))
    other.start()
    with interrupted_after(0.1), pytest.raises(KeyboardInterrupt):
        time.sleep(30)
    assert other.is_alive()
    other.join()
    assert late[0] < 1


@pytest.fixture
def _all_handlers_kept() -> Iterator[None]:
    numbers = (signal.SIGURG, signal.SIGALRM, signal.SIGINT)
    before = [(number, signal.getsignal(number)) for number in numbers]
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number, handler in before:
        signal.signal(number, handler)


@pytest.mark.usefixtures("_all_handlers_kept")
def test_signals_of_the_program_are_handled() -> None:
    endless = bound(compiled(ENDLESS), 2)
    ticks, urgent = list[int](), list[int]()
    signal.signal(signal.SIGALRM, lambda number, _: ticks.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    for _ in range(200):
        lateness(lambda: endless.run(timeout=0.002), 0.002)
    assert len(ticks) > 100
    signal.setitimer(signal.ITIMER_REAL, 0)
    for _ in range(2):
        signal.signal(signal.SIGURG, lambda number, _: urgent.append(number))  # takes the place of ours
        lateness(lambda: endless.run(timeout=0.002), 0.002)
        assert urgent == []
        os.kill(os.getpid(), signal.SIGURG)
        deadline = time.monotonic() + 5
        while not urgent and time.monotonic() < deadline:
            time.sleep(0.001)
        assert urgent == [signal.SIGURG]
        urgent.clear()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == mask


@pytest.mark.parametrize("blocked", [{signal.SIGURG}, set(signal.Signals)])
def test_a_thread_that_blocks_signals_is_stopped(blocked: set[signal.Signals]) -> None:
    endless, late, masks = bound(compiled(ENDLESS)), list[float](), list[object]()

    def run() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))
        late.append(lateness(lambda: endless.run(timeout=0.01), 0.01))
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert late[0] < 1
    assert masks[0] == masks[1]


def test_with_the_fault_handler_on() -> None:
    """It gives the main thread another stack for signals."""
    was_on = faulthandler.is_enabled()
    faulthandler.enable()
    try:
        endless = bound(compiled(ENDLESS), 2)
        for _ in range(20):
            lateness(lambda: endless.run(timeout=0.002), 0.002)
    finally:
        if not was_on:
            faulthandler.disable()


@pytest.mark.usefixtures("_all_handlers_kept")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_handler_may_dispatch(workers: int) -> None:
    """While the main thread is in the middle of a dispatch of the same workers; interrupts end the inner one first."""
    long, endless, inner = bound(compiled("a = 0.0;"), 1), compiled(ENDLESS), list[str]()
    slow = compiled("for (var i = 0u; i < 20000u; i++) { a = fract(a * 1.7); }")

    def on_alarm(_number: int, _frame: object) -> None:
        long.run(workers=workers)
        inner.append("done")
        lateness(lambda: bound(endless).run(workers=workers, timeout=0.05), 0.05)
        inner.append("stopped")
        with interrupted_after(0.05), pytest.raises(KeyboardInterrupt):
            bound(endless).run(workers=workers)
        inner.append("interrupted")

    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    lateness(lambda: bound(slow, 65535).run(workers=workers, timeout=2), 2)
    assert inner == ["done", "stopped", "interrupted"]


@pytest.mark.usefixtures("_all_handlers_kept")
@pytest.mark.parametrize("workers", [1, 3])
def test_a_handler_may_fork(workers: int) -> None:
    """The child leaves the dispatch, in which it has no other workers, and can make others."""
    slow, children = compiled("for (var i = 0u; i < 20000u; i++) { a = fract(a * 1.7); }"), list[int]()

    def on_alarm(_number: int, _frame: object) -> None:
        children.append(os.fork())
        if children[0] == 0:
            signal.alarm(30)

    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        lateness(lambda: bound(slow, 65535).run(workers=workers, timeout=1), 1)
    except BaseException as error:
        if children != [0]:
            raise
        try:
            bound(compiled(ENDLESS)).run(workers=workers, timeout=0.01)
        except DeviceError:
            os._exit(0 if isinstance(error, RuntimeError) and "forked" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(children[0], 0)[1] == 0


def test_stopped_before_it_begins() -> None:
    stop = Stop()
    assert not stop.is_raised
    stop.raise_()
    assert stop.is_raised
    assert Pool(2).run(0, b"", b"", 100, 0, (), stop, 0.0) == 0  # address 0 would crash
    with pytest.raises(TypeError, match="a run is stopped by a Stop or None, not 1"):
        Pool(1).run(0, b"", b"", 1, 0, (), 1, 0.0)  # type: ignore[arg-type]


SCRIPT = """
import sys, numpy as np, tinct
kernel = tinct.load('''
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    for (var k = 0u; k < 4000000000u; k++) { for (var m = 0u; m < 4000000000u; m++) { out[i] += k ^ m; } }
}''')["main"]
kernel.run_timed({"out": np.zeros(64, np.uint32)}, workgroups=0, trial=False)  # so that it is compiled
print("running", flush=True)
"""
RUN = 'kernel.run({"out": np.zeros(64, np.uint32)}, workgroups=1)'
ENDINGS = {
    "a script": ([], f"{SCRIPT}\n{RUN}", 1),
    "a script that catches it": ([], f"{SCRIPT}\ntry: {RUN}\nexcept KeyboardInterrupt: sys.exit(7)", 7),
    "the interactive interpreter": (["-i"], f"{SCRIPT}\n{RUN}", 9),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_interrupt_of_a_process(ending: str, tmp_path: Path) -> None:
    options, text, code = ENDINGS[ending]
    script = tmp_path / "script.py"
    script.write_text(text)
    source = str(Path(__file__).parents[2] / "src")
    with subprocess.Popen(
        [sys.executable, *options, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        if code == 9:  # it goes on after the exception
            process.stdin.write("import sys\nsys.exit(9)\n")
            process.stdin.flush()
        try:
            assert process.wait(10) == (code if code != 1 else -signal.SIGINT)
        finally:
            process.kill()
        assert time.perf_counter() - start < 3
        assert code == 7 or "KeyboardInterrupt" in process.stderr.read()  # type: ignore[union-attr]
