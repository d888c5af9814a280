"""Points are prepared in other processes: one that fails, takes too long or ends its process costs itself alone."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import pytest

import tinct
from tinct.backend.cpu import jit
from tinct.backend.cpu.machine import adopt_costs, costs_so_far, measurements
from tinct.backend.cpu.machine.kept import MOST_MEASUREMENTS
from tinct.ir.schedule.nodes import Decisions
from tinct.ir.schedule.nodes import Nest as NestNode
from tinct.ir.schedule.text import parse_decisions
from tinct.nests.lowered import LoweredNest
from tinct.nests.tuned import lowered_for
from tinct.tuning import nest_tuning, point_processes
from tinct.tuning.kernel_tuning import KernelProblem, KernelTask
from tinct.tuning.measured_rates import rates_of
from tinct.tuning.nest_task import Task
from tinct.tuning.nest_tuning import NestProblem
from tinct.tuning.point_processes import PointProcesses, compile_into_cache, number_of_processes
from tinct.tuning.rejected import Rejected

from ..nests import ROW_SUMS

SIZES = {"rows": 24, "columns": 200}
PROCESS = "__import__('time').sleep(0.3) or __import__('os').getpid()"
"""The process, after some time in which the others are given something, too. Requests are expressions here."""
WAIT = "__import__('time').sleep(60)"
REJECT = "(it for it in ()).throw(__import__('tinct.tuning.rejected', fromlist=['']).Rejected('wrong', 'y differs'))"


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TINCT_CACHE", "on")
    monkeypatch.setenv("TINCT_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TINCT_CPU_COSTS", "table")


@pytest.fixture(scope="module")
def one() -> Generator[PointProcesses[str, object]]:
    """A single process."""
    with PointProcesses(eval, 1, patience=10) as processes:
        yield processes


def shown(answers: list[object | Rejected]) -> list[object]:
    return [f"{it.status}: {it}" if isinstance(it, Rejected) else it for it in answers]


def test_the_kernels_of_a_point_are_compiled_within_its_seconds_together() -> None:
    texts = [f"""@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {{ out[i] = i * {factor}u; }}"""
        for factor in (3, 5)]  # fmt: skip
    first, second = (tinct.load(it)["main"] for it in texts)
    compile_into_cache([first], {}, contract=False, patience=60)

    def kernels() -> Iterator[tinct.Kernel]:
        yield first
        time.sleep(0.2)
        yield second

    with pytest.raises(tinct.DeviceError, match=r"not compiled within 0\.1 s"):
        compile_into_cache(kernels(), {}, contract=False, patience=0.1)


def test_results_are_in_the_order_of_requests(one: PointProcesses[str, object]) -> None:
    assert one.prepared(["1", "2", "'c'"]) == [1, 2, "c"]
    assert one.prepared([]) == []
    assert one.together == 2


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (REJECT, "wrong: y differs"),
        ("1 // 0", "failed: ZeroDivisionError: integer division or modulo by zero"),
        ("__import__('os')._exit(3)", "failed: the process that compiled it exited with status 3"),
        ("__import__('ctypes').string_at(0)", "failed: the process that compiled it died of SIGSEGV"),
        ("print('no answer') or __import__('os').write(1, b'nor this')", 8),
    ],
)
def test_a_failure_costs_one_request(one: PointProcesses[str, object], request_: str, answer: object) -> None:
    assert shown(one.prepared(["1", request_, "2"])) == [1, answer, 2]


def test_what_takes_too_long() -> None:
    with PointProcesses(eval, 1, patience=0.1) as processes:
        assert shown(processes.prepared(["1"])) == [1]  # the time that starting takes does not count
        late = "failed: the process that compiled it took more than 0.3 s"
        start = time.monotonic()
        assert shown(processes.prepared([WAIT, "2"])) == [late, 2]
        assert time.monotonic() - start < 20


def test_several_work_at_a_time() -> None:
    with PointProcesses(eval, 2, patience=10) as processes:
        assert len(set(processes.prepared([PROCESS] * 2))) == 2
        assert processes.together == 4


def test_without_processes() -> None:
    with PointProcesses(eval, 0, patience=10) as none:
        assert none.prepared(["1"]) == []
        assert none.together == 1
    with PointProcesses(lambda it: it, 2, patience=10) as cannot_be_pickled:
        assert cannot_be_pickled.prepared(["1"]) == []
        assert cannot_be_pickled.together == 1


def test_processes_that_do_not_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))
    with PointProcesses(eval, 2, patience=10) as processes:
        assert processes.prepared(["1"]) == []


def test_an_interrupt_ends_no_process() -> None:
    with PointProcesses(eval, 1, patience=100) as processes:
        (first,) = processes.prepared([PROCESS])
        assert isinstance(first, int)
        os.kill(first, signal.SIGINT)
        assert processes.prepared([PROCESS]) == [first]
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def prepared_or_not(processes: PointProcesses[str, object]) -> None:
    with suppress(CancelledError):
        processes.prepared([WAIT] * 3)


def test_closing_waits_for_nothing() -> None:
    with PointProcesses(eval, 1, patience=100) as processes:
        processes.prepared(["1"])
        thread = threading.Thread(target=prepared_or_not, args=(processes,))
        thread.start()
        time.sleep(0.3)
        start = time.monotonic()
    thread.join()
    assert time.monotonic() - start < 20


def test_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    for processors in (1, 2, 64):
        monkeypatch.setattr(point_processes, "available_processors", lambda its=processors: its)
        counts.append(number_of_processes(60))
    assert counts == [0, 2, 8]
    assert number_of_processes(1) == 0
    monkeypatch.setenv("TINCT_CACHE", "off")
    assert number_of_processes(60) == 0


def test_rejected_points_are_pickled() -> None:
    for is_late in (False, True):
        copy = pickle.loads(pickle.dumps(Rejected("failed", "why", is_late=is_late)))
        assert (type(copy), copy.status, str(copy), copy.is_late) == (Rejected, "failed", "why", is_late)


def test_adopted_costs_are_used_and_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = costs_so_far()
    monkeypatch.setenv("TINCT_CPU_COSTS", "measured")
    assert measurements() == 0
    adopt_costs(costs)
    assert costs_so_far() is costs
    assert measurements() == MOST_MEASUREMENTS


# Nests


def problem_of(nest: tinct.Nest | tinct.ParsedNest, device: str = "cpu") -> NestProblem:
    return NestProblem(Task(nest.ir, SIZES, partial(lowered_for, True), device, reassociate=True))


def fail(*_: object) -> None:
    raise AssertionError("something is compiled here")


def texts_of(its: NestProblem, point: Decisions) -> list[bytes]:
    return [it.kernel.shader.source.data for it in its.job(point).dispatches]


def test_prepared_points_are_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ("i: workgroup", "i: workgroup\nj: loop * invocation(8)", "j: partial * loop(16)")
    points = [parse_decisions(it) for it in texts]
    its = problem_of(tinct.parse_nest(ROW_SUMS))
    its.reference = tinct.parse_nest(ROW_SUMS).run(its.data.inputs)
    rates_of("cpu")  # kernels of their own measure these, the first time
    with its.bench, its.processes(2) as processes:
        assert set(its.prepare(processes, points)) == set(points)
        with monkeypatch.context() as patch:
            patch.setattr(jit, "_object_file", fail)
            patch.setattr("tinct.nests.lowered.lower", fail)
            assert all(its.measure(it, best=1e-9) > 0 for it in points)
        assert its.prepare(processes, points) == {}, "nothing is compiled a second time"
    alone = problem_of(tinct.parse_nest(ROW_SUMS))
    assert [texts_of(its, it) for it in points] == [texts_of(alone, it) for it in points]


def another_lowered(nest: NestNode, _: NestNode, decisions: Decisions, sizes: Mapping[str, int]) -> LoweredNest:
    return lowered_for(True, nest, decisions, sizes)


def test_a_wrong_point_is_rejected_by_the_process() -> None:
    nest = tinct.Nest("row_sums")
    i, j = nest.dim("rows"), nest.dim("columns")
    nest.store("sums", nest.reduce("+", nest.call("abs", nest.load("x", "f32", [i, j])), on=[j]), [i])
    right = tinct.parse_nest(ROW_SUMS)
    its = NestProblem(Task(right.ir, SIZES, partial(another_lowered, nest.ir), reassociate=True))
    first, alike = (parse_decisions(f"i: workgroup * invocation({it})") for it in (2, 4))
    with its.bench, its.processes(2) as processes:
        its.prepare(processes, [first, alike])
        for point in (first, alike):
            with pytest.raises(Rejected, match="sums differs from the definition at rows = 5") as found:
                its.measure(point, float("inf"))
            assert found.value.status == "wrong"


def test_what_cannot_be_compiled_is_rejected() -> None:
    its = problem_of(tinct.parse_nest(ROW_SUMS))
    illegal = parse_decisions("k: workgroup")
    with its.bench, its.processes(2) as processes:
        its.prepare(processes, [illegal])
        with pytest.raises(Rejected) as found:
            its.measure(illegal, float("inf"))
        assert found.value.status == "failed"


def test_a_search_with_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[Decisions] = []
    before = NestProblem.prepare

    def noted(its: NestProblem, processes: nest_tuning.Processes, points: list[Decisions]) -> dict[Decisions, float]:
        prepared.extend(points)
        assert len(points) <= processes.together == 4
        return before(its, processes, points)

    monkeypatch.setattr(nest_tuning, "number_of_processes", lambda _: 2)
    monkeypatch.setattr(NestProblem, "prepare", noted)
    best = tinct.parse_nest(ROW_SUMS).tune(SIZES, seconds=5, reassociate=True)
    assert {it.point for it in best.attempts if it.status == "measured"} <= set(prepared)
    compiling = [it.compiling for it in best.attempts if it.compiling is not None]
    assert compiling, "all but those whose machine code is that of another"
    assert min(compiling) > 0
    assert f"compiling {len(compiling)} took {median(compiling):.2g} s each" in best.report
    assert len(set(prepared)) == len(prepared)
    x = np.random.default_rng(0).random((24, 200), np.float32)
    assert np.allclose(best.run({"x": x})["sums"], x.sum(axis=1), rtol=1e-5)


# Overrides

WGSL = """
override width: u32 = 4;
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(width)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&y) { y[id.x] = id.x * width; }
}
"""
TOML = 'threads = "n"\n[buffers]\ny = { shape = "n", output = "exact" }\n[[case]]\nname = "c"\nsizes = { n = 10 }\n'


def test_values_of_overrides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "k.toml").write_text(TOML)
    path = tmp_path / "k.wgsl"
    path.write_text(WGSL)
    its = KernelProblem(KernelTask(path, {}))
    its.read()
    right, too_large = (("width", 4),), (("width", 2048),)
    with its.bench, its.processes(2) as processes:
        its.prepare(processes, [right, too_large])
        with monkeypatch.context() as patch:
            patch.setattr(jit, "_object_file", fail)
            assert its.measure(right, float("inf")) > 0
        with pytest.raises(Rejected, match="2048") as found:
            its.measure(too_large, float("inf"))
        assert found.value.status == "failed"


def test_none_for_a_gpu_and_for_textures(tmp_path: Path) -> None:
    (tmp_path / "k.toml").write_text(TOML)
    path = tmp_path / "k.wgsl"
    path.write_text(WGSL)
    assert KernelProblem(KernelTask(path, {}, device="gpu")).processes(2).together == 1
    assert KernelProblem(KernelTask(path, {})).processes(2).together == 4
    with_texture = WGSL.replace("@compute", "@group(0) @binding(1) var t: texture_2d<f32>;\n@compute")
    path.write_text(with_texture.replace("id.x * width", "textureDimensions(t).x"))
    assert KernelProblem(KernelTask(path, {})).processes(2).together == 1
