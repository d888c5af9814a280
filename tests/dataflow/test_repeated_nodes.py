"""Nodes with `repeat` inside of graphs: on all devices, in plans, files and streams, and in graphs that repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct.graphs import zeros
from tinct.graphs.plan import Dispatch

from .support import DEVICES

SHADER = tinct.load(
    """
@group(0) @binding(0) var<storage, read> old: array<i32>;
@group(0) @binding(1) var<storage, read> force: array<i32>;
@group(0) @binding(2) var<storage, read_write> made: array<i32>;
@group(0) @binding(3) var<storage, read_write> kept: array<i32>;
@group(0) @binding(4) var<storage, read_write> turns: u32;

// Depends on neighbours, so that executions out of order or in place would show.
@compute @workgroup_size(64) fn spread(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    if i >= arrayLength(&made) { return; }
    made[i] = old[max(i, 1u) - 1u] * 3 - old[min(i + 1u, arrayLength(&old) - 1u)] + force[i];
}

@compute @workgroup_size(64) fn add(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&kept) { kept[id.x] += old[id.x]; }
}

@compute @workgroup_size(1) fn count() {
    turns = u32(old[0]) % 4u + 2u;
}
"""
)
spread, add, count = (SHADER[name] for name in ("spread", "add", "count"))
Array = npt.NDArray[Any]


@tinct.graph
def relax(state, force):
    made = spread({"old": state, "force": force, "made": zeros("len(state)")}, threads="len(state)")
    return {"state": made["made"]}


@tinct.graph
def step(state, turns):
    relaxed = relax({"state": state, "force": state}, repeat=turns)
    return {"state": add({"old": relaxed["state"], "kept": state}, threads="len(state)")["kept"]}


STATE = np.random.default_rng(3).integers(-1000, 1000, 150, dtype=np.int32)


def relaxed(state: Array, force: Array, turns: int) -> Array:
    for _ in range(turns):
        left, right = np.append(state[:1], state[:-1]), np.append(state[1:], state[-1:])
        state = left * 3 - right + force
    return state


def stepped(state: Array, turns: int) -> Array:
    return state + relaxed(state, state, turns)


@pytest.mark.parametrize("device", DEVICES)
def test_devices(device: str) -> None:
    """In a graph that is itself repeated, and with as many turns as an input says."""
    for turns, executions in ((0, 1), (1, 1), (5, 3)):
        expected = STATE
        for _ in range(executions):
            expected = stepped(expected, turns)
        given = {"state": STATE, "turns": turns}
        np.testing.assert_array_equal(step.run(given, device=device, repeat=executions)["state"], expected)


def test_nodes_on_several_devices() -> None:
    devices = {"relax.spread": DEVICES[-1], "add": "cpu"}
    result = step.run_timed({"state": STATE, "turns": 4}, devices=devices)
    np.testing.assert_array_equal(result.outputs["state"], stepped(STATE, 4))
    assert result.timings["relax", "spread"].dispatches == 4


def test_executions_share_memory() -> None:
    """A plan has as many steps as there are executions, on two buffers that change places."""
    plan = step.plan({"state": STATE, "turns": 9})
    assert [it.path for it in plan.steps if isinstance(it, Dispatch)] == [("relax", "spread")] * 9 + [("add",)]
    assert len(plan.steps) == 10
    assert plan.transient_bytes == plan.live_bytes == 2 * 768


def test_a_node_may_say_how_often() -> None:
    """No plan can hold that: the graph is walked."""

    @tinct.graph
    def counted(state):
        turns = count({"old": state, "turns": zeros()}, threads=1)["turns"]
        return {"state": relax({"state": state, "force": state}, repeat=turns)["state"]}

    for device in DEVICES:
        found = counted.run({"state": STATE}, device=device)["state"]
        np.testing.assert_array_equal(found, relaxed(STATE, STATE, int(STATE[0]) % 4 + 2))
    with pytest.raises(tinct.InputError, match=r"a plan of graph 'counted': its steps depend on .* 'count\.turns'"):
        counted.plan({"state": STATE})


def test_instances_of_a_graph_that_repeats() -> None:
    """Repeats within instances within a repeat."""
    inner = tinct.Graph("inner")
    node = inner.node(add, threads="len(kept)")
    inner.bind_input("kept", node["kept"])
    inner.bind_input("old", node["old"])
    inner.bind_output(node["kept"], "kept")

    middle = tinct.Graph("middle")
    node = middle.node(inner, repeat=2, name="turns")
    middle.bind_input("kept", node["kept"])
    middle.bind_input("old", node["old"])
    middle.bind_output(node["kept"], "kept")

    outer = tinct.Graph("outer")
    node = outer.node(middle, instances=3, repeat=5, name="all")
    outer.bind_input("kept", node["kept"])
    outer.bind_input("old", node["old"])
    outer.bind_output(node["kept"], "kept")
    for device in DEVICES:
        found = outer.run({"kept": STATE, "old": STATE}, device=device)["kept"]
        np.testing.assert_array_equal(found, STATE * 31)


def test_files_and_fusion_keep_the_repeat() -> None:
    text = str(step)
    assert "relax = createNode(relax, repeat = turns)" in text
    given = {"state": STATE, "turns": 3}
    for graph in (tinct.load_graph(tinct.GraphProgram.to_json(step.program)), step.fused()):
        np.testing.assert_array_equal(graph.run(given)["state"], stepped(STATE, 3))


def test_streams() -> None:
    frames = [STATE, STATE + 1, STATE * 2]
    with step.stream(depth=4) as stream:
        for frame in frames:
            stream.push({"state": frame, "turns": 2})
        for frame in frames:
            np.testing.assert_array_equal(stream.pop()["state"], stepped(frame, 2))


def test_a_limit_of_time_ends_a_repeat() -> None:
    with pytest.raises(tinct.DeviceError, match=r"graph 'step' did not end within 0\.5 s"):
        step.run({"state": STATE, "turns": 2**31}, timeout=0.5)


def test_mistakes() -> None:
    graph = tinct.Graph()
    for call, message in (
        (lambda: graph.node(spread, threads=4, repeat=3), "node 'spread' has a repeat, but executes no graph"),
        (lambda: graph.node(relax, repeat=-2), "node 'relax' is repeated -2 times; a repeat is at least 0"),
    ):
        with pytest.raises(tinct.InputError) as caught:
            call()
        assert str(caught.value) == message
