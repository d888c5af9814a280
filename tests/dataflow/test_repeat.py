"""Repeated graphs: outputs become inputs, by swapping memory; `until` is exact."""

from __future__ import annotations

import gc
import random
import time
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct.graphs import zeros

from .support import DEVICES

Array = npt.NDArray[Any]

SHADER = tinct.load(
    """
@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
@group(0) @binding(2) var<storage, read> step: array<u32>;

// Into memory of its own.
@compute @workgroup_size(4)
fn advance(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&next) { next[id.x] = state[id.x] * 3u + step[id.x]; }
}

// In place.
@compute @workgroup_size(4)
fn add(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&next) { next[id.x] += step[id.x]; }
}

@group(0) @binding(3) var<storage, read_write> flag: u32;
@group(0) @binding(4) var<uniform> limit: u32;

@compute @workgroup_size(1)
fn reached() {
    flag = u32(state[0] >= limit);
}

@group(0) @binding(5) var<storage, read> before: array<u32>;

@compute @workgroup_size(4)
fn wave(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&next) { next[id.x] = 2u * state[id.x] + 5u * before[id.x] + 1u; }
}
"""
)
STATE = np.arange(1, 7, dtype=np.uint32)
STEP = np.array([1, 0, 2, 5, 7, 11], np.uint32)


def advancing() -> tinct.Graph:
    """The next state is in memory of its own."""
    graph = tinct.Graph("advancing")
    node = graph.node(SHADER["advance"], threads="len(state)", name="advance")
    graph.bind_input("state", node["state"])
    graph.bind_input("step", node["step"])
    graph.bind_input(zeros("len(state)"), node["next"])
    graph.bind_output(node["next"], "state")
    return graph


def counting() -> tinct.Graph:
    """Adds in place, and says when the first element reaches the limit."""
    graph = tinct.Graph("counting")
    node = graph.node(SHADER["add"], threads="len(state)", name="add")
    graph.bind_input("state", node["next"])
    graph.bind_input("step", node["step"])
    kept, looked_at = graph.split(node["next"], 2)
    test = graph.node(SHADER["reached"], threads=(), name="reached")
    graph.edge(looked_at, test["state"])
    graph.bind_input("limit", test["limit"])
    graph.bind_input(zeros(), test["flag"])
    graph.bind_output(kept, "state")
    graph.bind_output(test["flag"], "done")
    return graph


def advanced(executions: int) -> Array:
    state = STATE
    for _ in range(executions):
        state = (state * np.uint32(3) + STEP).astype(np.uint32)
    return state


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 6, 7])
def test_odd_and_even_numbers_of_executions(device: str, count: int) -> None:
    graph, state = advancing(), STATE.copy()
    result = graph.run_timed({"state": state, "step": STEP}, device=device, repeat=count)
    np.testing.assert_array_equal(result.outputs["state"], advanced(count))
    np.testing.assert_array_equal(state, STATE)
    assert result.executions == count
    assert [it for it in result.copies if it.source == it.target] == []


@pytest.mark.parametrize("device", DEVICES)
def test_outputs_stay_the_callers(device: str) -> None:
    graph = advancing()
    first = graph.run({"state": STATE, "step": STEP}, device=device, repeat=2)["state"]
    kept = first.copy()
    second = graph.run({"state": first, "step": STEP}, device=device, repeat=3)["state"]
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(second, advanced(5))
    second[:] = 0
    np.testing.assert_array_equal(graph.run({"state": STATE, "step": STEP}, device=device)["state"], advanced(1))


@pytest.mark.parametrize("device", DEVICES)
def test_two_states_that_move_on(device: str) -> None:
    """The current state becomes the one before: memory changes places among three."""
    graph = tinct.Graph("wave")
    first = graph.node(SHADER["add"], threads=0, name="pass")  # hands its state on
    graph.bind_input("current", first["next"])
    graph.bind_input("current", first["step"])
    now, old = graph.split(first["next"], 2)
    node = graph.node(SHADER["wave"], threads="len(current)", name="wave")
    graph.edge(now, node["state"])
    graph.bind_input("before", node["before"])
    graph.bind_input(zeros("len(current)"), node["next"])
    graph.bind_output(node["next"], "current")
    graph.bind_output(old, "before")
    before, state = STEP, STATE
    for count in range(1, 9):
        before, state = state, (np.uint32(2) * state + np.uint32(5) * before + np.uint32(1)).astype(np.uint32)
        found = graph.run({"current": STATE, "before": STEP}, device=device, repeat=count)
        np.testing.assert_array_equal(found["current"], state)
        np.testing.assert_array_equal(found["before"], before)


@pytest.mark.parametrize("device", DEVICES)
def test_states_that_change_places(device: str) -> None:
    graph = tinct.Graph("exchange")
    for name, other in (("a", "b"), ("b", "a")):
        node = graph.node(SHADER["add"], threads="len(a)", name=f"add_{name}")
        graph.bind_input(name, node["next"])
        graph.bind_input("step", node["step"])
        graph.bind_output(node["next"], other)
    a, b = STATE, STATE * 10
    for count in range(1, 5):
        a, b = b + STEP, a + STEP
        found = graph.run({"a": STATE, "b": STATE * 10, "step": STEP}, device=device, repeat=count)
        np.testing.assert_array_equal(found["a"], a)
        np.testing.assert_array_equal(found["b"], b)


@pytest.mark.parametrize("device", DEVICES)
def test_one_output_for_two_inputs_and_an_input_that_is_written(device: str) -> None:
    """What stays an input is not changed, though a node writes it."""
    graph = tinct.Graph()
    node = graph.node(SHADER["add"], threads="len(kept)", name="add")
    graph.bind_input("kept", node["next"])
    graph.bind_input("step", node["step"])
    one, other = graph.split(node["next"], 2)
    advance = graph.node(SHADER["advance"], threads="len(kept)", name="advance")
    graph.bind_input("a", advance["state"])
    graph.bind_input("b", advance["step"])
    graph.edge(one, advance["next"])
    graph.bind_output(advance["next"], "y")
    graph.bind_output(other, "sum")
    y, other_sum = np.array(STATE), STATE + STEP
    given = {"kept": STATE, "step": STEP, "a": y, "b": y}
    for count in range(1, 5):
        y = (y * np.uint32(3) + (y if count > 1 else STATE)).astype(np.uint32)
        twice = tinct.Graph()
        inner = twice.node(graph, name="inner")
        for name in ("kept", "step", "a", "b"):
            twice.bind_input(name, inner[name])
        first, second = twice.split(inner["y"], 2)
        twice.bind_output(first, "a")
        twice.bind_output(second, "b")
        twice.bind_output(inner["sum"], "sum")
        found = twice.run(given, device=device, repeat=count)
        np.testing.assert_array_equal(found["a"], y)
        np.testing.assert_array_equal(found["b"], y)
        np.testing.assert_array_equal(found["sum"], other_sum)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("every", [None, 1, 4, 100])
@pytest.mark.parametrize(("limit", "expected"), [(0, 1), (2, 1), (3, 2), (5, 4), (9, 8), (10, 9), (1000, 12)])
def test_until_is_exact(device: str, every: int | None, limit: int, expected: int) -> None:
    """Where the flag is never set, `repeat` ends it."""
    graph = counting()
    given = {"state": STATE, "step": STEP, "limit": limit}
    result = graph.run_timed(given, device=device, until="done", every=every, repeat=12)
    assert result.executions == expected
    np.testing.assert_array_equal(result.outputs["state"], STATE + expected * STEP)
    assert result.outputs["done"] == (1 + expected >= limit)
    without = graph.run(given, device=device, until="done", every=every, repeat=12)
    np.testing.assert_array_equal(without["state"], result.outputs["state"])


@pytest.mark.parametrize("device", DEVICES)
def test_until_without_repeat_ends_in_time(device: str) -> None:
    graph = counting()
    given = {"state": STATE, "step": STEP * 0, "limit": 1000}
    graph.run(given, device=device)
    start = time.monotonic()
    with pytest.raises(tinct.DeviceError):
        graph.run(given, device=device, until="done", timeout=1)
    assert time.monotonic() - start < 20
    np.testing.assert_array_equal(graph.run(given, device=device)["state"], STATE)


@pytest.mark.parametrize("device", DEVICES)
def test_a_number_that_is_fed_back_into_a_uniform(device: str) -> None:
    """A scalar that a node makes is the limit of the next execution."""
    graph = tinct.Graph()
    node = graph.node(SHADER["reached"], threads=(), name="reached")
    graph.bind_input("state", node["state"])
    graph.bind_input("limit", node["limit"])
    graph.bind_input(zeros(), node["flag"])
    graph.bind_output(node["flag"], "flag")
    found = [
        int(graph.run({"state": [1], "limit": 5}, device=device, repeat=count, feed={"flag": "limit"})["flag"])
        for count in range(1, 5)
    ]
    assert found == [0, 1, 1, 1]  # 1 >= 5, 1 >= 0, 1 >= 1 …


@pytest.mark.parametrize("seed", range(6))
def test_nodes_on_several_devices(seed: int) -> None:
    made = random.Random(seed)
    devices = {name: made.choice(DEVICES) for name in ("add", "reached")}
    result = counting().run_timed(
        {"state": STATE, "step": STEP, "limit": 9}, devices=devices, until="done", every=made.randint(1, 5)
    )
    assert result.executions == 8
    np.testing.assert_array_equal(result.outputs["state"], STATE + 8 * STEP)


@pytest.mark.parametrize("device", DEVICES)
def test_transient_buffers_are_zero_in_each_execution(device: str) -> None:
    graph = tinct.Graph()
    first = graph.node(SHADER["add"], threads="len(state)", name="first")
    graph.bind_input(zeros("len(state)"), first["next"])
    graph.bind_input("state", first["step"])
    second = graph.node(SHADER["add"], threads="len(state)", name="second")
    graph.edge(first["next"], second["step"])
    graph.bind_input(zeros("len(state)"), second["next"])
    graph.bind_output(second["next"], "state")
    np.testing.assert_array_equal(graph.run({"state": STATE}, device=device, repeat=5)["state"], STATE)


def test_what_cannot_be_repeated() -> None:
    graph = counting()
    given = {"state": STATE, "step": STEP, "limit": 3}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"repeat": -1}, "repeat is a number of executions, not -1"),
        ({"repeat": 1.5}, "repeat"),
        ({"until": "don"}, "has no output named 'don'; did you mean 'done'?"),
        ({"until": "state"}, "has 6"),
        ({"until": "done", "every": 0}, "of at least 1"),
        ({"repeat": 2, "every": 1}, "give until"),
        ({"every": 1}, "every is for a graph that is repeated"),
        ({"feed": {"state": "state"}}, "feed is for a graph that is repeated"),
        ({"repeat": 2, "feed": {"stat": "state"}}, "no output named 'stat'; did you mean 'state'?"),
        ({"repeat": 2, "feed": {"state": "stat"}}, "no input named 'stat'; did you mean 'state'?"),
        ({"repeat": 2, "feed": {"state": "limit"}}, "output 'state' is array<u32>, but the input 'limit' is u32"),
        ({"repeat": 2, "feed": {}}, "feed names no output"),
        ({"repeat": 2, "feed": {"state": 3}}, "no input named 3"),
    ]
    for options, message in cases:
        with pytest.raises(tinct.InputError) as caught:
            graph.run(given, **options)
        assert message in str(caught.value)


def test_a_graph_without_an_output_that_can_be_fed() -> None:
    graph = tinct.Graph("lonely")
    node = graph.node(SHADER["advance"], threads="len(state)")
    graph.bind_input("state", node["state"])
    graph.bind_input("step", node["step"])
    graph.bind_input(zeros("len(state)"), node["next"])
    graph.bind_output(node["next"], "next")
    with pytest.raises(tinct.InputError) as caught:
        graph.run({"state": STATE, "step": STEP}, repeat=2)
    assert str(caught.value) == (
        "graph 'lonely' cannot be repeated: no output has the name of an input; feed={output: input} says which output "
        "becomes which input"
    )
    fed = graph.run({"state": STATE, "step": STEP}, repeat=2, feed={"next": "state"})
    np.testing.assert_array_equal(fed["next"], advanced(2))


@pytest.mark.parametrize("device", DEVICES)
def test_sizes_that_differ(device: str) -> None:
    graph = tinct.Graph()
    node = graph.node(SHADER["advance"], threads="len(state)")
    graph.bind_input("state", node["state"])
    graph.bind_input("step", node["step"])
    graph.bind_input(zeros("len(state) + 1"), node["next"])
    graph.bind_output(node["next"], "state")
    with pytest.raises(tinct.InputError, match="must have the same size"):
        graph.run({"state": STATE, "step": STEP}, device=device, repeat=2)


def test_memory_is_kept_between_runs_and_freed() -> None:
    graph = advancing().program
    graph.run({"state": STATE, "step": STEP})
    (executor,) = graph.runner.free
    graph.run({"state": STATE, "step": STEP})
    assert graph.runner.free == [executor]
    found = weakref.ref(executor)
    del executor
    graph.close()
    gc.collect()
    assert found() is None
    np.testing.assert_array_equal(graph.run({"state": STATE, "step": STEP})["state"], advanced(1))
