"""Tiles that are prefetched where the workgroup before computes: in which loops, and how many lines in each turn."""

from __future__ import annotations

import numpy as np
import pytest

import tinct

KERNEL = """
@group(0) @binding(0) var<storage> x: array<f32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read_write> found: array<f32>;
var<workgroup> tile: array<f32, 960>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) w: vec3u) {
    COPY
    workgroupBarrier();
    COMPUTE
}
"""
COPY = """for (var r = 0u; r < 6u; r++) { for (var s = 0u; s < 10u; s++) {
    tile[r * 160u + s * 16u + t] = x[u32(clamp(i32(w.y + r) - 1, 0, 7)) * 512u + w.x * 128u + s * 16u + t];
} }"""
ONE_ROW = """for (var s = 0u; s < 60u; s++) { tile[s * 16u + t] = x[w.x * 512u + s * 16u + t]; }"""
ALONG = """for (var k = 0u; k < TURNS; k++) {
    var sum = f32(n);
    for (var j = 0u; j < 20u; j++) { for (var r = 0u; r < 6u; r++) { sum = sum * 0.5 + tile[r * 160u + k + j + t]; } }
    found[(w.y * 3u + w.x) * 128u + (k * 16u + t) % 128u] = sum;
}"""
CASES = {
    "a line of each row in each turn": (COPY, ALONG.replace("TURNS", "8u"), 6),
    "several lines": (COPY, ALONG.replace("TURNS", "4u"), 12),
    "lines of half of the rows": (COPY, ALONG.replace("TURNS", "17u"), 3),
    "two tiles": (
        COPY.replace("= x[", "= x[2048u + w.x * 128u + r * 200u + s * 16u + t] + x["),
        ALONG.replace("TURNS", "8u"),
        12,
    ),
    "no time for a second tile": (
        COPY.replace("= x[", "= x[2048u + w.x * 128u + r * 200u + s * 16u + t] + x["),
        ALONG.replace("TURNS", "8u").replace("j < 20u", "j < 1u").replace("r < 6u", "r < 3u"),
        6,
    ),
    "two loops that compute": (
        COPY,
        ALONG.replace("TURNS", "8u") + "\nworkgroupBarrier();\n" + ALONG.replace("TURNS", "8u"),
        6,
    ),
    "one long row": (ONE_ROW, ALONG.replace("TURNS", "8u"), 4),
    "turns that are not known": (COPY, ALONG.replace("TURNS", "n"), 0),
    "positions from data": (
        "for (var r = 0u; r < 60u; r++) { tile[r * 16u + t] = x[u32(x[r]) + w.x * 128u + t]; }",
        ALONG.replace("TURNS", "8u"),
        0,
    ),
    "nothing to compute": (
        COPY,
        "for (var k = 0u; k < 8u; k++) { found[(w.y * 3u + w.x) * 128u + k * 16u + t] = tile[k * 16u + t] + f32(n); }",
        0,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_prefetches_and_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    copy, compute, lines = CASES[name]
    kernel = tinct.load(KERNEL.replace("COPY", copy).replace("COMPUTE", compute))["main"]
    text = kernel.shader.compilation("main", {}).cpu.llvm(optimised=False)
    assert text.count("call void @llvm.prefetch") == 2 * lines  # the loop is written with range tests and without
    x = np.random.default_rng(8).integers(0, 50, 4200).astype(np.float32)
    buffers = {"x": x, "n": np.uint32(9), "found": np.zeros(900, np.float32)}
    found, expected = (kernel.run(buffers, workgroups=(3, 2), device=it)["found"] for it in ("cpu", "interp"))
    np.testing.assert_array_equal(found, expected)
