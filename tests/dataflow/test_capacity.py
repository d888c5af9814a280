"""Extents that a node writes, with a capacity: no run on the CPU or a GPU waits for the number."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.graphs import zeros
from tinct.graphs.plan import Dispatch

from .support import DEVICES, count, fill

PLANNED = [it for it in DEVICES if it in ("cpu", "gpu")]
needs_gpu = pytest.mark.skipif("gpu" not in DEVICES, reason="no GPU")

GIVEN = np.array([3, 0, 4, 0, 0, 5], np.uint32)
WIDE = tinct.load(
    """
@group(0) @binding(0) var<storage, read_write> extent: array<i32, 2>;
@group(0) @binding(1) var<uniform> x: i32;
@group(0) @binding(2) var<uniform> y: i32;

@compute @workgroup_size(1)
fn say() { extent = array<i32, 2>(x, y); }

@group(0) @binding(3) var<storage, read_write> seen: array<atomic<u32>>;

@compute @workgroup_size(4, 2)
fn mark(@builtin(num_workgroups) groups: vec3u, @builtin(global_invocation_id) id: vec3u) {
    atomicStore(&seen[0], groups.x);
    atomicStore(&seen[1], groups.y);
    atomicMax(&seen[2], id.x + 1u);
}
"""
)


def counted(capacity: int | None) -> tinct.Graph:
    """Fills as many elements as there are numbers that are not zero."""
    graph = tinct.Graph("counted")
    counter = graph.node(count, threads="len(x)", name="count")
    graph.bind_input("x", counter["src"])
    graph.bind_input(zeros(), counter["total"])
    node = graph.node(fill, threads=counter["total"], capacity=capacity, name="fill")
    graph.bind_input(zeros("len(x)"), node["dst"])
    graph.bind_input(9, node["value"])
    graph.bind_output(node["dst"], "y")
    return graph


def said(capacity: int) -> tinct.Graph:
    graph = tinct.Graph("said")
    say = graph.node(WIDE["say"], threads=(), name="say")
    graph.bind_input(zeros(), say["extent"])
    graph.bind_input("x", say["x"])
    graph.bind_input("y", say["y"])
    node = graph.node(WIDE["mark"], threads=("say.extent[0]", "say.extent[1]"), capacity=capacity, name="mark")
    graph.bind_input(zeros(3), node["seen"])
    graph.bind_output(node["seen"], "seen")
    return graph


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("capacity", [3, 4, 1 << 20])
def test_within_the_capacity(device: str, capacity: int) -> None:
    graph = counted(capacity)
    assert graph.run({"x": GIVEN}, device=device)["y"].tolist() == [9, 9, 9, 0, 0, 0]
    assert graph.run({"x": GIVEN * 0}, device=device)["y"].tolist() == [0] * 6


@pytest.mark.parametrize("device", DEVICES)
def test_more_than_the_capacity(device: str) -> None:
    with pytest.raises(tinct.InputError) as caught:
        counted(2).run({"x": GIVEN}, device=device)
    assert str(caught.value) == "node 'fill': 3 invocations are more than its capacity, 2"


@pytest.mark.parametrize("device", DEVICES)
def test_several_extents(device: str) -> None:
    graph = said(1 << 30)
    assert graph.run({"x": 5, "y": 3}, device=device)["seen"].tolist() == [2, 2, 8]
    assert graph.run({"x": 0, "y": 3}, device=device)["seen"].tolist() == [0, 0, 0]
    for x, y, words in ((1 << 20, 1, "workgroups"), (-1, 2, "-1"), (2, -1, "-1")):
        with pytest.raises(tinct.InputError) as caught:
            graph.run({"x": x, "y": y}, device=device)
        assert "node 'mark'" in str(caught.value)
        assert words in str(caught.value)
    with pytest.raises(tinct.InputError, match="5 x 3 invocations are more than its capacity, 14"):
        said(14).run({"x": 5, "y": 3}, device=device)


@pytest.mark.parametrize("device", PLANNED)
def test_the_plan_reads_the_number_when_it_is_followed(device: str) -> None:
    graph = counted(5)
    plan = graph.plan({"x": GIVEN}, device=device)
    _, dispatch = (it for it in plan.steps if isinstance(it, Dispatch))
    assert (dispatch.workgroups, dispatch.capacity) == (None, 5)
    with pytest.raises(tinct.InputError, match="not supported: a plan"):
        counted(None).plan({"x": GIVEN}, device=device)


GROWING = tinct.load(
    """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> size: array<u32, 3>;
@group(0) @binding(2) var<storage, read_write> done: u32;
@group(0) @binding(3) var<uniform> step: u32;
@group(0) @binding(4) var<uniform> limit: u32;

@compute @workgroup_size(1) fn next() {
    size[1] += step;
    done = u32(size[1] >= limit);
}

@compute @workgroup_size(4) fn add(@builtin(global_invocation_id) id: vec3u) { data[id.x] += 1u; }

// A driver may end this loop early, so that the dispatch is looked after.
@compute @workgroup_size(4) fn odd(@builtin(global_invocation_id) id: vec3u) {
    var value = data[id.x] + limit;
    while value > 1u && (value & 1u) == 0u { value /= 2u; }
    data[id.x] = value;
}
"""
)
GIVEN_SIZE = {"data": np.zeros(64, np.uint32), "size": [7, 0, 9]}


def growing(entry: str, more: dict[str, int]) -> tinct.Graph:
    """Each execution changes as many elements as `size[1]` says, rounded up to 4. That is `step` more each time."""

    @tinct.graph
    def growing(data: Any, size: Any, step: Any, limit: Any) -> dict[str, Any]:
        now = GROWING["next"]({"size": size, "done": zeros(), "step": step, "limit": limit}, threads=())
        bound = {"data": data, **more}
        changed = GROWING[entry](bound, threads=now["size"][1], capacity=40)
        return {"data": changed["data"], "size": now["size"], "done": now["done"]}

    return growing


@needs_gpu
@pytest.mark.parametrize(
    ("entry", "more", "devices"),
    [
        ("add", {}, {"next": "gpu", "add": "gpu"}),
        ("add", {}, {"add": "gpu"}),
        ("add", {}, {"next": "gpu"}),
        ("odd", {"limit": 24}, {"next": "gpu", "odd": "gpu"}),
    ],
)
def test_repeated_alone_and_mixed(entry: str, more: dict[str, int], devices: dict[str, str]) -> None:
    """The outputs, the exact execution, and the error of a grid that grows too large."""
    graph = growing(entry, more)
    options: list[dict[str, Any]] = [
        {"repeat": 4},
        {"repeat": 4, "timeout": 60},
        {"until": "done", "every": 2},
        {"until": "done", "every": 4, "timeout": 60},
    ]
    # 48 invocations would be refused in the execution after the last one, which a chunk of executions has as well.
    for step, limit in ((3, 9), (12, 36), (0, 0)):
        given = {**GIVEN_SIZE, "step": step, "limit": limit}
        for option in options:
            if option.get("repeat") and step == 12:
                continue
            expected = graph.run_timed(given, device="cpu", **option)
            for found in (graph.run(given, devices=devices, **option), graph.run(given, devices=devices, **option)):
                for name, array in expected.outputs.items():
                    np.testing.assert_array_equal(found[name], array)
            assert graph.run_timed(given, devices=devices, **option).executions == expected.executions
    graph.plan({**GIVEN_SIZE, "step": 1, "limit": 1}, devices=devices)
    for option in ({"repeat": 5}, {"until": "done"}, {"until": "done", "every": 3}):
        with pytest.raises(tinct.InputError) as caught:
            graph.run({**GIVEN_SIZE, "step": 12, "limit": 1000}, devices=devices, **option)  # type: ignore[arg-type]
        assert str(caught.value) == f"node '{entry}': 48 invocations are more than its capacity, 40"


def test_in_files() -> None:
    text = str(counted(5))
    assert "fill = createNode1D(fill, count.total, capacity = 5)" in text
    loaded = tinct.load_graph(text)
    assert str(loaded) == text
    assert tinct.load_graph(loaded.to_json()).run({"x": GIVEN})["y"].tolist() == [9, 9, 9, 0, 0, 0]


def test_wrong_capacities() -> None:
    for capacity, message in ((0, "a capacity is at least 1"), (1.5, "a capacity")):
        with pytest.raises(tinct.InputError, match=message):
            counted(capacity)  # type: ignore[arg-type]
    graph = tinct.Graph()
    with pytest.raises(tinct.InputError, match="no node writes an extent of it"):
        graph.node(fill, threads=3, capacity=4)
    with pytest.raises(tinct.InputError, match="executes no leaf"):
        graph.node(counted(4), instances=3, capacity=4)


@needs_gpu
def test_compiling_is_under_the_limit_of_the_graph() -> None:
    """First the plan, for which kernels are analysed, and then the node's kernel."""
    lines = "".join(f"n = n * n + m; if n % {k % 7 + 2} == 1 {{ m ^= n >> {k % 5}; }}\n" for k in range(600))
    large = tinct.load(
        f"""@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(16) fn large(@builtin(global_invocation_id) g: vec3u) {{
        var n = g.x; var m = n; {lines} out[g.x] = n ^ m; }}"""
    )
    graph = tinct.Graph("slow")
    counter = graph.node(count, threads="len(x)", name="count")
    graph.bind_input("x", counter["src"])
    graph.bind_input(zeros(), counter["total"])
    node = graph.node(large["large"], threads=counter["total"], capacity=16, name="large")
    graph.bind_input(zeros("len(x)"), node["out"])
    graph.bind_output(node["out"], "y")
    with pytest.raises(tinct.DeviceError, match=r"graph 'slow' did not end within 0\.05 s"):
        graph.run({"x": GIVEN}, device="gpu", timeout=0.05)
    graph.plan({"x": GIVEN}, device="gpu")
    count.run({"src": GIVEN, "total": None}, threads=6, device="gpu")
    start = time.monotonic()
    with pytest.raises(tinct.DeviceError, match=r"node 'large' was stopped: graph 'slow' did not end within 0\.2 s"):
        graph.run({"x": GIVEN}, device="gpu", timeout=0.2)
    assert time.monotonic() - start < 2
