"""Leaves fused inside of graphs that nodes execute in several instances or several times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.graphs import instance_id, num_instances, one_to_one, zeros
from tinct.graphs.fusing import FusedProgram

from .fused_chains import rule_of
from .random_fusion import random_case
from .support import DEVICES

SHADER = tinct.load("""
struct Size { count: u32, step: u32 }
@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> old: array<i32>;
@group(0) @binding(2) var<storage, read_write> made: array<i32>;
@group(0) @binding(3) var<storage, read_write> number: u32;

@compute @workgroup_size(64) fn triple(@builtin(global_invocation_id) id: vec3u) {
    if id.x < size.count { made[id.x] = old[id.x] * 3 + i32(size.step); }
}

@compute @workgroup_size(64) fn grow(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&made) { made[id.x] = old[id.x] + 1; }
}

@compute @workgroup_size(64) fn add(@builtin(global_invocation_id) id: vec3u) {
    if id.x < size.count { made[id.x] += old[id.x]; }
}

@compute @workgroup_size(1) fn say() { number = size.count; }
""")
STATE = np.random.default_rng(3).integers(-1000, 1000, 150, dtype=np.int32)


@tinct.graph
def step(state, count, step):
    new = zeros("len(state)")
    size = {"count": count, "step": step}
    tripled = SHADER["triple"]({"size": size, "old": state, "made": new}, threads="len(state)")
    between = one_to_one(tripled["made"])
    return {"state": SHADER["grow"]({"old": between, "made": new}, threads="len(state)")["made"]}


@tinct.graph
def repeated(state, count, turns):
    return {"state": step({"state": state, "count": count, "step": 5}, repeat=turns)["state"]}


@tinct.graph
def twice(state, count):
    """A graph in a graph, both of which are repeated; the same graph alone."""
    inner = repeated({"state": state, "count": count, "turns": 3}, repeat=2)
    return {"state": step({"state": inner["state"], "count": "len(state)", "step": 7}, repeat=2)["state"]}


@tinct.graph
def part(total, state):
    """Asks for the instance of the graph around the one that executes it."""
    size = {"count": "len(state)", "step": instance_id("x", level=2)}
    tripled = SHADER["triple"]({"size": size, "old": state, "made": zeros("len(state)")}, threads="len(state)")
    added = {"size": {"count": num_instances("x", level=2) * 50, "step": 0}, "old": one_to_one(tripled["made"])}
    return {"total": SHADER["add"]({**added, "made": total}, threads="len(state)")["made"]}


@tinct.graph
def around(total, state):
    return {"total": part({"total": total, "state": state})["total"]}


@tinct.graph
def instances(state):
    return {"total": around({"total": zeros("len(state)"), "state": state}, instances=3)["total"]}


def check(graph: tinct.graphs.GraphProgram, given: dict[str, Any]) -> FusedProgram:
    """The fused graph, which gives on all devices what the graph gives."""
    fused = graph.fused()
    for device in DEVICES:
        wanted, found = graph.run(given, device=device), fused.run(given, device=device)
        for name, array in wanted.items():
            np.testing.assert_array_equal(found[name], array)
    return fused


def paths(fused: FusedProgram, given: dict[str, Any]) -> list[str]:
    return [".".join(it) for it in fused.run_timed(given).timings]


def test_repeated_graphs(tmp_path: Path) -> None:
    given = {"state": STATE, "count": 150, "turns": 4}
    fused = check(repeated, given)
    assert [str(it) for it in fused.remarks] == ["info[fusion]: step.triple.made -> step.grow.old: fused"]
    assert fused.failure(given) is None
    assert paths(fused, given) == ["step.triple_grow"]
    fused.save(tmp_path / "fused.hpvm")
    loaded = tinct.load_graph(tmp_path / "fused.hpvm")
    assert str(loaded) == str(fused)
    np.testing.assert_array_equal(loaded.run(given)["state"], repeated.run(given)["state"])


def test_a_launch_that_runs_as_it_was() -> None:
    """What the count says is known of the input of the graph around."""
    given = {"state": STATE, "count": 149, "turns": 4}
    fused = check(repeated, given)
    assert rule_of(fused.failure(given) or "") == "covered"
    assert paths(fused, given) == ["step.triple", "step.grow"]


def test_levels_of_graphs() -> None:
    given = {"state": STATE, "count": 150}
    fused = check(twice, given)
    assert [it.edge for it in fused.remarks] == [
        "repeated.step.triple.made -> repeated.step.grow.old",
        "step.triple.made -> step.grow.old",
    ]
    assert paths(fused, given) == ["repeated.step.triple_grow", "step.triple_grow"]
    assert len(fused.kernels) == 1


def test_instances() -> None:
    """An inlined graph asks for the instance of the graph around it, which is one level nearer then."""
    fused = check(instances, {"state": STATE})
    assert [it.is_fused for it in fused.remarks] == [True]
    assert fused.failure({"state": STATE}) is None
    expected = sum(STATE * 3 + number for number in range(3))
    np.testing.assert_array_equal(fused.run({"state": STATE})["total"], expected)


def test_devices_of_nodes_that_are_fused() -> None:
    given = {"state": STATE, "count": 149, "turns": 4}
    fused = repeated.fused()
    found = fused.run(given, devices={"step.triple_grow": "interp"})
    np.testing.assert_array_equal(found["state"], repeated.run(given)["state"])


@tinct.graph
def said(state, count):
    number = SHADER["say"]({"size": {"count": count, "step": 0}, "number": zeros()}, threads=())["number"]
    return {"state": step({"state": state, "count": number, "step": 5}, repeat=2)["state"]}


@tinct.graph
def growing(state, count):
    """The number of the next execution is what this one writes."""
    number = SHADER["say"]({"size": {"count": count, "step": 0}, "number": zeros()}, threads=())["number"]
    tripled = SHADER["triple"](
        {"size": {"count": count, "step": 1}, "old": state, "made": zeros("len(state)")}, threads="len(state)"
    )
    grown = SHADER["grow"]({"old": one_to_one(tripled["made"]), "made": zeros("len(state)")}, threads="len(state)")
    return {"state": grown["made"], "count": number}


@tinct.graph
def fed(state, count):
    return {"state": growing({"state": state, "count": count}, repeat=2)["state"]}


@tinct.graph
def wider(state):
    """The next execution gets an array of another length."""
    tripled = SHADER["grow"]({"old": state, "made": zeros("len(state) + 64")}, threads="len(state) + 64")
    grown = SHADER["grow"](
        {"old": one_to_one(tripled["made"]), "made": zeros("len(state) + 64")}, threads="len(state) + 64"
    )
    return {"state": grown["made"]}


@tinct.graph
def widening(state):
    return {"state": wider({"state": state}, repeat=2)["state"]}


@pytest.mark.parametrize(
    ("graph", "name", "given"),
    [
        (said, "step", {"state": STATE, "count": 150}),
        (fed, "growing", {"state": STATE, "count": 150}),
        (widening, "wider", {"state": STATE}),
    ],
)
def test_numbers_that_are_known_only_when_the_graph_runs(graph: Any, name: str, given: dict[str, Any]) -> None:
    fused = check(graph, given)
    (remark,) = fused.remarks
    assert not remark.is_fused
    assert rule_of(remark.message) == "levels"
    assert remark.edge.startswith(f"{name}.")
    assert f"{name!r}" in remark.message


def test_random_graphs_that_are_repeated() -> None:
    remarks = [it for seed in range(8) for it in _repeated_fusion(seed).remarks]
    assert sum(it.is_fused for it in remarks) > len(remarks) / 4


def _repeated_fusion(seed: int) -> FusedProgram:
    """A random graph that is repeated within another, fused."""
    case = random_case(seed, plain=True, result="a")
    graph = tinct.Graph("outer")
    node = graph.node(case.graph, repeat=2, name="inner")
    for name in case.inputs:
        graph.bind_input(name, node[name])
    for name in case.graph.outputs:
        graph.bind_output(node[name], name)
    fused = graph.fused()
    for device in ("interp", "cpu"):
        wanted, found = graph.run(case.inputs, device=device), fused.run(case.inputs, device=device)
        for name, array in wanted.items():
            np.testing.assert_array_equal(found[name], array)
    return fused
