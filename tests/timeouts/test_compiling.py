"""Compiling is limited and can be interrupted: in stages written in Python, and in LLVM, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from tinct.backend.cpu import jit, llvm_process
from tinct.backend.cpu.passes import Passes
from tinct.base.deadline import compiling_within
from tinct.base.errors import DeviceError
from tinct.ir.source import Source
from tinct.kernel import Kernel
from tinct.shader import Shader

TAKES_SECONDS = (
    "define void @kernel(ptr %p) {\n"
    + "".join(
        f"%a{n} = load volatile i64, ptr %p\n%b{n} = udiv i64 %a{n}, {n + 3}\nstore volatile i64 %b{n}, ptr %p\n"
        for n in range(40_000)
    )
    + "ret void\n}\n"
)
SECONDS_LATE = 2.0
"""A busy machine takes long to end a process; LLVM takes longer for the module."""


def kernel(statements: int) -> Kernel:
    """With branches, each of which makes work for all stages."""
    lines = "".join(f"n = n * n + m; if n % {k % 7 + 2} == 1 {{ m ^= n >> {k % 5}; }}\n" for k in range(statements))
    return Shader(
        Source.from_text(f"""@group(0) @binding(0) var<storage, read_write> out: array<u32>;
            @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) g: vec3u) {{
            var n = g.x; var m = n; {lines} out[g.x] = n ^ m; }}""")
    ).kernel()


def expected(statements: int) -> list[int]:
    found: list[int] = []
    for lane in range(16):
        n = m = lane
        for k in range(statements):
            n = (n * n + m) & 0xFFFFFFFF
            m ^= n >> k % 5 if n % (k % 7 + 2) == 1 else 0
        found.append(n ^ m)
    return found


def children() -> set[str]:
    """The processes that this one has started and that are there still."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split())


def runs(process: Path) -> bool:
    """Whether a process, given by its folder, has not ended; one that nobody has waited for has."""
    try:
        return "State:\tZ" not in (process / "status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextmanager
def quick(late: float = SECONDS_LATE) -> Generator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < late


def test_llvm_is_stopped_when_the_time_is_over() -> None:
    assert llvm_process.is_long(TAKES_SECONDS, "quick")
    before = children()
    with (
        quick(0.5 + SECONDS_LATE),
        compiling_within(0.5),
        pytest.raises(DeviceError, match=r"not compiled within 0\.5 s"),
    ):
        jit.compile_module(TAKES_SECONDS, "quick")
    assert children() <= before


def test_llvm_goes_on_with_a_short_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is compiled in this process, which no limit can stop; others wait for it no longer than theirs."""
    may_end, make_object = threading.Event(), jit.make_object

    def slowly(text: str, passes: Passes) -> tuple[bytes, list[float]]:
        with jit._llvm_held():
            may_end.wait(60)
            return make_object(text, passes)

    monkeypatch.setattr(jit, "make_object", slowly)
    text = f"; {uuid4()}\ndefine void @kernel() {{ ret void }}"
    jit.start()  # which would take longer than the limits below
    jit.identity()
    try:
        with compiling_within(0.05), pytest.raises(DeviceError, match=r"within 0\.05 s: LLVM's work goes on"):
            jit.compile_module(text, "quick")
        with compiling_within(0.05), pytest.raises(DeviceError, match=r"within 0\.05 s: LLVM's work goes on"):
            jit.compile_module(text, "quick")
    finally:
        may_end.set()
    with compiling_within(60):
        assert jit.compile_module(text, "quick").address


def test_llvm_is_stopped_by_an_interrupt() -> None:
    before = children()
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with quick(0.5 + SECONDS_LATE), pytest.raises(KeyboardInterrupt):
        jit.compile_module(TAKES_SECONDS, "quick")
    timer.join()
    assert children() <= before


def test_what_fails_in_llvm_is_an_error() -> None:
    with pytest.raises(DeviceError, match=r"LLVM failed on the kernel's module \(status 1\)(?s:.*)expected"):
        llvm_process.object_file("define void @kernel() { nonsense }", "quick")


def test_a_process_that_dies_is_an_error() -> None:
    before = children()

    def kill() -> None:
        while not (started := children() - before):
            time.sleep(0.01)
        os.kill(int(started.pop()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(DeviceError, match="status -9"):
        jit.compile_module(TAKES_SECONDS, "quick")
    killer.join()


def test_the_process_ends_with_its_parent(tmp_path: Path) -> None:
    """Also where the parent is killed, so that nothing of it can run any more."""
    module = tmp_path / "module.ll"
    module.write_text(TAKES_SECONDS, encoding="utf-8")
    text = f"""
import threading, time, pathlib
from tinct.backend.cpu import llvm_process
text = pathlib.Path({str(module)!r}).read_text()
threading.Thread(target=llvm_process.object_file, args=(text, "quick"), daemon=True).start()
tasks = pathlib.Path("/proc/self/task")
while not (found := [name for it in tasks.iterdir() for name in (it / "children").read_text().split()]):
    time.sleep(0.01)
print(found[0], flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = Path("/proc", parent.stdout.readline().strip())
        assert child.exists()
        parent.kill()
    end = time.monotonic() + 30  # LLVM alone would take minutes
    while runs(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not runs(child)


@pytest.mark.parametrize("tier", ["gang", "lane", "baseline"])
def test_the_other_process_makes_the_same_code(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", tier)
    monkeypatch.setattr(llvm_process, "_LONG", 0.0)
    made: list[bool] = []
    make = llvm_process.object_file

    def compare(text: str, passes: llvm_process.Passes) -> tuple[bytes, list[float]]:
        code, seconds = make(text, passes)
        made.append(code == jit.make_object(text, passes)[0])
        return code, seconds

    monkeypatch.setattr(llvm_process, "object_file", compare)
    out = kernel(3).run({"out": np.zeros(16, np.uint32)}, workgroups=1)["out"]
    assert out.tolist() == expected(3)
    assert made == [True]


@pytest.mark.parametrize("device", ["cpu", "hercules"])
def test_other_stages_are_stopped_and_can_go_on(device: str) -> None:
    large = kernel(250)
    given = {"out": np.zeros(16, np.uint32)}
    stopped: list[float] = []
    limit = 0.01
    while limit < 60:
        start = time.monotonic()
        try:
            out = large.run(given, workgroups=1, device=device, timeout=limit)["out"]
        except DeviceError:
            stopped.append(time.monotonic() - start - limit)
            limit *= 1.7
        else:
            assert out.tolist() == expected(250)
            break
    assert len(stopped) >= 2
    assert max(stopped) < SECONDS_LATE
