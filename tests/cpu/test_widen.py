"""Workgroups with short rows run side by side, as if they were one, and no invocation is there that should not be."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.gangs import widened

HEAD = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> count: atomic<u32>;
var<workgroup> tile: array<u32, 64>;
var<workgroup> total: atomic<u32>;
"""
PLACE = "let at = (id.z * 16u + id.y) * 80u + id.x;"
BODIES = {
    "each its own": f"{PLACE} out[at] = data[at] * 3u + 1u;",
    "who is there": "_ = &data; _ = &out; atomicAdd(&count, 1u);",
    "who is there in loops": f"""{PLACE} var v = 0u;
        for (var k = 0u; k < id.x % 5u; k++) {{ v += data[(k * 7u + id.y) % 48u]; atomicAdd(&count, v); }}
        out[at] = v;""",
    "the greatest": "_ = &data; _ = &out; atomicMax(&count, id.x);",
    "the number of workgroups": f"{PLACE} out[at] = data[at] + groups.x;",
    "the last is out of range": "out[id.x * 40u + id.y] = data[id.x + id.y * 500u];",
}
SIZES = ["8, 8", "4, 4, 2", "2, 3", "8", "1, 5", "4", "3, 2", "16, 2"]


def kernel(body: str, size: str) -> tinct.Kernel:
    return tinct.load(f"""{HEAD}
@compute @workgroup_size({size}) fn main(@builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_id) local: vec3u, @builtin(num_workgroups) groups: vec3u) {{ {body} }}""")["main"]


@pytest.mark.parametrize("workgroups", [(1, 1, 1), (3, 2, 1), (4, 1, 2), (5, 2, 1)])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", BODIES)
def test_answers_are_the_interpreters(name: str, size: str, workgroups: tuple[int, int, int]) -> None:
    found = kernel(BODIES[name], size)
    buffers = {
        "out": np.zeros(6000, np.uint32),
        "data": np.random.default_rng(3).integers(0, 97, 3000, np.uint32),
        "count": np.uint32(0),
    }
    used = {it.name: buffers[it.name] for it in found.bindings}
    expected = found.run(used, workgroups=workgroups, device="interp")
    for output, array in found.run(used, workgroups=workgroups).items():
        np.testing.assert_array_equal(array, expected[output], output)


def is_widened(body: str, size: str) -> bool:
    function = kernel(body, size).shader.compilation("main", {}).hercules.function
    return widened(function, 16)[1] is not None


@pytest.mark.parametrize("size", ["8, 8", "4, 4, 2", "8", "2"])
def test_short_rows_are_widened(size: str) -> None:
    assert all(is_widened(body, size) for body in (BODIES["each its own"], BODIES["the greatest"]))


@pytest.mark.parametrize("size", ["32, 4", "64", "16", "3, 2", "1, 5"])
def test_rows_that_do_not_fill_a_vector_or_are_long_are_not(size: str) -> None:
    assert not is_widened(BODIES["each its own"], size)


def test_rows_of_several_vectors_are_widened_where_there_are_no_loops() -> None:
    assert is_widened(BODIES["each its own"], "16, 4")
    assert not is_widened(BODIES["who is there in loops"], "16, 4")
    assert is_widened(BODIES["who is there in loops"], "8, 4")


@pytest.mark.parametrize(
    "body",
    [
        "out[id.x] = local.x;",
        "out[id.x] = id.x / 8u + local.x;",
        "out[id.x] = atomicAdd(&total, 1u);",
        "out[id.x] = id.x; storageBarrier(); out[id.y] += id.x;",
        "tile[id.x % 64u] = 1u; workgroupBarrier(); out[id.x] = tile[id.y];",
    ],
)
def test_workgroups_that_can_tell_each_other_apart_are_not(body: str) -> None:
    assert not is_widened(body, "8, 8")
