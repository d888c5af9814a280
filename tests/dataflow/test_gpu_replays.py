"""Steps on a GPU are prepared once, and sent together."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.graphs import zeros
from tinct.sessions.gpu_replay import GpuReplay

from .support import DEVICES
from .test_repeat import STATE, STEP, advancing, counting

pytestmark = pytest.mark.skipif("gpu" not in DEVICES, reason="no GPU")

LOOPING = tinct.load(
    """
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;

@compute @workgroup_size(64) fn add(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&dst) { dst[id.x] = src[id.x] + 1u; }
}

// A driver may end this loop early, so that the dispatch is looked after.
@compute @workgroup_size(64) fn halve(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&dst) { return; }
    var value = src[id.x];
    while value > 100u { value /= 2u; }
    dst[id.x] = value;
}
"""
)


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The executions of each replay."""
    found: list[int] = []
    run = GpuReplay.run

    def counted(self: GpuReplay, executions: int, *, phase: int = 0, timeout: float | None = None) -> None:
        found.append(executions)
        run(self, executions, phase=phase, timeout=timeout)

    monkeypatch.setattr(GpuReplay, "run", counted)
    return found


def looping(names: list[str]) -> tinct.Graph:
    """A chain of kernels."""
    graph = tinct.Graph("looping")
    before = None
    for number, name in enumerate(names):
        node = graph.node(LOOPING[name], threads="len(x)", name=f"n{number}")
        graph.bind_input(zeros("len(x)"), node["dst"])
        if before is None:
            graph.bind_input("x", node["src"])
        else:
            graph.edge(before["dst"], node["src"])
        before = node
    assert before is not None
    graph.bind_output(before["dst"], "x")
    return graph


@pytest.mark.parametrize("repeat", [1, 2, 7, 50])
def test_a_repetition_is_a_replay(repeat: int, replayed: list[int]) -> None:
    graph, given = advancing(), {"state": STATE, "step": STEP}
    expected = graph.run(given, device="cpu", repeat=repeat)["state"]
    for _ in range(2):
        replayed.clear()
        np.testing.assert_array_equal(graph.run(given, device="gpu", repeat=repeat)["state"], expected)
        assert replayed == [repeat]


@pytest.mark.parametrize(("every", "chunks"), [(4, 3), (5, 2), (16, 1)])
def test_the_executions_between_two_looks_at_a_flag_are_one(every: int, chunks: int, replayed: list[int]) -> None:
    graph = counting()
    given = {"state": STATE * 0, "step": np.ones_like(STEP), "limit": 10}
    expected = graph.run_timed(given, device="cpu", until="done", repeat=40)
    found = graph.run(given, device="gpu", until="done", repeat=40, every=every)
    np.testing.assert_array_equal(found["state"], expected.outputs["state"])
    exact = expected.executions - every * (chunks - 1)
    again = [] if exact == every else [exact]
    assert replayed == [1] * chunks + again


@pytest.mark.parametrize("names", [["add", "halve", "add", "add"], ["halve"], ["halve", "halve", "add"]])
def test_kernels_that_must_run_singly(names: list[str], replayed: list[int]) -> None:
    graph = looping(names)
    x = np.arange(1000, dtype=np.uint32)
    expected = graph.run({"x": x}, device="interp", repeat=3)["x"]
    for _ in range(2):
        np.testing.assert_array_equal(graph.run({"x": x}, device="gpu", repeat=3)["x"], expected)
    assert bool(replayed) or set(names) == {"halve"}


def test_timed_runs_go_step_by_step(replayed: list[int]) -> None:
    x = np.arange(1000, dtype=np.uint32)
    result = looping(["add"] * 3).run_timed({"x": x}, device="gpu")
    assert [it.dispatches for it in result.timings.values()] == [1, 1, 1]
    np.testing.assert_array_equal(result.outputs["x"], x + 3)
    assert not replayed


def test_replays_and_the_cpu_in_one_graph() -> None:
    graph = looping(["add"] * 6)
    x = np.arange(1000, dtype=np.uint32)
    devices = {"n2": "cpu", "n3": "interp"}
    for _ in range(2):
        result = graph.run({"x": x}, device="gpu", devices=devices, repeat=2)
        np.testing.assert_array_equal(result["x"], x + 12)


def test_no_invocations() -> None:
    graph = tinct.Graph("empty")
    node = graph.node(LOOPING["add"], threads="n", name="add")
    graph.bind_input("x", node["src"])
    graph.bind_input(zeros("len(x)"), node["dst"])
    graph.bind_output(node["dst"], "y")
    x = np.arange(3, dtype=np.uint32)
    assert graph.run({"x": x, "n": 0}, device="gpu")["y"].tolist() == [0, 0, 0]
    assert graph.run({"x": x, "n": 3}, device="gpu")["y"].tolist() == [1, 2, 3]
