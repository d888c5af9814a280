"""Inputs of runs on the CPU: kernels that only read one work in the caller's array, and none changes it."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

import tinct
from tinct.graphs import zeros

SIZE = 1000
SHADER = tinct.load("""
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> sum: array<f32>;
@compute @workgroup_size(64)
fn add(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&a) { sum[id.x] = a[id.x] + b[id.x]; }
}
@group(0) @binding(3) var<storage, read_write> changed: array<f32>;
@compute @workgroup_size(64)
fn twice(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&changed) { changed[id.x] *= 2.0; }
}
""")


@tinct.graph
def both(a: Any, b: Any, c: Any) -> dict[str, Any]:
    """Reads `a` and `b`, and writes `c` in place."""
    added = SHADER["add"]({"a": a, "b": b, "sum": zeros(a.length)}, threads=a.length)
    return {"sum": added["sum"], "twice": SHADER["twice"]({"changed": c}, threads=c.length)["changed"]}


def check(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    before = [it.copy() for it in (a, b, c)]
    outputs = both.run({"a": a, "b": b, "c": c})
    for now, then in zip((a, b, c), before, strict=True):
        np.testing.assert_array_equal(now, then)
    np.testing.assert_array_equal(outputs["sum"], before[0].astype(np.float32) + before[1])
    np.testing.assert_array_equal(outputs["twice"], 2 * before[2])
    for name, it in outputs.items():
        assert it.flags.writeable, name
        assert not any(np.shares_memory(it, given) for given in (a, b, c)), name


def test_arrays_in_memory_of_all_kinds() -> None:
    rng = np.random.default_rng(3)
    room = rng.random(SIZE + 9, dtype=np.float32)
    plain, other, third = (rng.random(SIZE, dtype=np.float32) for _ in range(3))
    frozen = rng.random(SIZE, dtype=np.float32)
    frozen.flags.writeable = False
    check(plain, other, third)
    check(third, other, plain)  # of the same sizes: the same executor
    check(plain, plain, plain)
    check(frozen, other, frozen)
    check(room[1 : SIZE + 1], room[3 : SIZE + 3], room[4 : SIZE + 4])  # overlap, and begin at any element
    check(rng.random(2 * SIZE, dtype=np.float32)[::2], other.reshape(10, -1).ravel(), third)
    check(rng.random(SIZE), other, third.astype(">f4"))  # other layouts are converted


def test_a_run_keeps_no_array() -> None:
    a = np.ones(SIZE, np.float32)
    both.run({"a": a, "b": a, "c": a})
    found = weakref.ref(a)
    del a
    assert found() is None


def test_an_input_that_is_an_output() -> None:
    graph = tinct.Graph("passed")
    node = graph.node(SHADER["add"], threads="len(a)")
    graph.bind_input("a", node["a"])
    graph.bind_input("b", node["b"])
    graph.bind_input(zeros("len(a)"), node["sum"])
    graph.bind_output(node["sum"], "a")
    a, b = np.ones(SIZE, np.float32), np.full(SIZE, 3, np.float32)
    assert graph.run({"a": a, "b": b}, repeat=4)["a"].tolist() == [13] * SIZE
    assert a.tolist() == [1] * SIZE
