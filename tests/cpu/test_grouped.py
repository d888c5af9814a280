"""Workgroups of one invocation are the threads of gangs, where there are more than a few."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.gangs import grouped

HEAD = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> count: atomic<u32>;
var<workgroup> tile: array<u32, 8>;
"""
BODIES = {
    "an element": "out[w.x] = data[w.x] * 3u + w.y;",
    "two ways to say the number": "out[w.x + id.y * 100u] = data[id.x] + groups.x;",
    "a tile": """var sum = w.y;
        for (var i = 0u; i < 25u; i++) { sum = (sum + data[w.x * 25u + i]) / 3u; out[w.x * 25u + i] = sum; }""",
    "a loop of its own": """var n = data[w.x];
        while n > 1u { n = select(n / 2u, n * 3u + 1u, n % 2u == 1u); out[w.x]++; if out[w.x] > 30u { break; } }""",
    "memory of the workgroup": """for (var i = 0u; i < 8u; i++) { tile[(i * 3u) % 8u] += data[w.x + i]; }
        workgroupBarrier(); out[w.x * 3u] = tile[w.x % 8u] + tile[7];""",
    "the greatest": "if atomicMax(&count, data[w.x]) > 10000u { out[w.x] = 1u; }",
    "some return": "if data[w.x] % 3u == 0u { return; } out[w.x] = w.x;",
}
PRIVATE = "atomicAdd(&count, data[w.x]);"
WORKGROUPS = [(1, 1, 1), (32, 1, 1), (33, 1, 1), (70, 1, 1), (40, 3, 2), (3, 50, 1)]


def kernel(body: str, size: str = "1") -> tinct.Kernel:
    return tinct.load(f"""{HEAD}
@compute @workgroup_size({size}) fn main(@builtin(global_invocation_id) id: vec3u,
    @builtin(workgroup_id) w: vec3u, @builtin(num_workgroups) groups: vec3u) {{ {body} }}""")["main"]


@pytest.mark.parametrize("name", BODIES)
def test_answers_are_the_interpreters(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    found = kernel(BODIES[name])
    buffers = {
        "out": np.zeros(2000, np.uint32),
        "data": np.random.default_rng(3).integers(0, 97, 1500, np.uint32),
        "count": np.uint32(0),
    }
    used = {it.name: buffers[it.name] for it in found.bindings}
    assert found.shader.compilation("main", {}).cpu.tier == "gang"
    for workgroups in WORKGROUPS:
        if name == "a loop of its own" or "w.y" in BODIES[name]:
            workgroups = (workgroups[0], 1, 1)  # each element is for one workgroup
        expected = found.run(used, workgroups=workgroups, device="interp")
        for output, array in found.run(used, workgroups=workgroups).items():
            np.testing.assert_array_equal(array, expected[output], f"{output}, {workgroups}")


def test_stores_of_cheap_values_in_loops_stay_apart() -> None:
    body = "var sum = 0u; for (var i = 0u; i < 25u; i++) { sum += data[w.x * 25u + i]; out[w.x * 25u + i] = sum; }"
    assert kernel(body).shader.compilation("main", {}).cpu.tier == "lane"


def is_grouped(body: str, size: str = "1") -> bool:
    return grouped(kernel(body, size).shader.compilation("main", {}).hercules.function, 16) is not None


def test_workgroups_of_one_invocation_are_gathered() -> None:
    assert all(map(is_grouped, BODIES.values()))


def test_others_stay_apart() -> None:
    assert not is_grouped(BODIES["an element"], "4")
    assert not is_grouped("out[w.y] = data[w.y];")


def test_what_workers_have_copies_of_is_not_shared_by_two_functions() -> None:
    assert kernel(PRIVATE).shader.compilation("main", {}).cpu.tier_reason == "the workgroups have one invocation"
