"""Memory of textures in plans, what is counted as a copy or a dispatch, and textures of zeros that nobody writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct.graphs import emit, zeros

from .support import DEVICES

SHADER = tinct.load("""
    @group(0) @binding(0) var seen: texture_2d<f32>;
    @group(0) @binding(1) var made: texture_storage_2d<r32float, write>;
    @compute @workgroup_size(1) fn more(@builtin(global_invocation_id) id: vec3u) {
        textureStore(made, id.xy, textureLoad(seen, id.xy, 0) + 1);
    }
    @group(1) @binding(0) var colours: texture_2d<f32>;
    @group(1) @binding(1) var depths: texture_depth_2d;
    @group(1) @binding(2) var<storage, read_write> sum: f32;
    @compute @workgroup_size(1) fn add() {
        sum += textureLoad(colours, vec2u(1, 0), 0).r + textureLoad(depths, vec2u(1, 0), 0);
    }
""")
STEPS = 6
GIVEN = {"field": np.float32([[1, 2], [3, 4]])}


@tinct.graph
def rising(field):
    for _number in range(STEPS):
        field = SHADER["more"]({"seen": field, "made": zeros(2, 2)}, threads=(2, 2))["made"]
    return {"field": field}


@pytest.mark.skipif("gpu" not in DEVICES, reason="no GPU")
def test_textures_share_memory() -> None:
    """On a GPU, those of one form whose lives do not overlap; the result is one of them."""
    plan = rising.plan(GIVEN, device="gpu")
    assert sum(it.kind == "transient" for it in plan.allocations) == 2
    assert plan.transient_bytes <= plan.live_bytes
    for _ in range(2):
        assert rising.run(GIVEN, device="gpu")["field"].tolist() == [[7, 8], [9, 10]]


@pytest.mark.parametrize("device", [it for it in DEVICES if it in ("cpu", "gpu")])
def test_what_is_counted(device: str) -> None:
    """Neither headers of textures, nor zeros."""
    run = rising.run_timed(GIVEN, device=device)
    assert {it.dispatches for it in run.timings.values()} == {1}
    crossing = [(it.buffer, it.source, it.target) for it in run.copies]
    last = f"more_{STEPS}.made"
    assert crossing == ([("field", "cpu", "gpu"), (last, "gpu", "cpu")] if device == "gpu" else [])


@pytest.mark.parametrize("device", DEVICES)
def test_zeros_that_nobody_writes(device: str, tmp_path: Path) -> None:
    graph = tinct.Graph("nothing")
    node = graph.node(SHADER["add"], threads=1)
    for name in ("colours", "depths"):
        graph.bind_input(zeros(2, 2), node[name])
    graph.bind_input("sum", node["sum"])
    graph.bind_output(node["sum"], "sum")
    assert graph.plan({"sum": 5}, device=device).steps
    assert graph.run({"sum": 5}, device=device)["sum"] == 5
    emit(graph, tmp_path, {"sum": 5})
    assert tinct.load_plan(tmp_path).run(device=device)["sum"] == 5
    if device == "gpu":
        from .plan_follower import Follower

        assert np.frombuffer(Follower(tmp_path).run()["sum"], np.float32) == [5]
