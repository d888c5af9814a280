"""Prefetches in loops that move on by more than a gang reads at a time."""

from __future__ import annotations

import numpy as np
import pytest

import tinct

KERNEL = """
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(64) fn main(
    @builtin(global_invocation_id) g: vec3u, @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) w: vec3u, @builtin(num_workgroups) groups: vec3u,
) {
    var sum = n;
    BODY
    sums[g.x] = sum;
}
"""
FAR = {
    "grid stride": "for (var i = g.x; i < arrayLength(&x); i += groups.x * 64u) { sum += x[i]; }",
    "counted grid stride": "for (var k = 0u; k < n; k++) { sum += x[g.x + k * (64u * groups.x)]; }",
    "grid stride, while": "var i = g.x; while true { if i >= n { break; } sum ^= x[i]; i += groups.x << 6u; }",
    "tile": "for (var k = 0u; k < n; k++) { sum += x[w.x * 4096u + k * 256u + t]; }",
    "tile, one counter": "let e = w.x * 4096u + n; for (var i = w.x * 4096u + t; i < e; i += 512u) { sum += x[i]; }",
    "half of a row": "for (var k = 0u; k < n; k += 2u) { let i = w.x * 1024u + k * 64u + t; sum += x[i] + x[i + 5u]; }",
    "a row, with much to compute": "for (var k = 0u; k < n; k++) { let i = w.x * 1024u + k * 64u + t; "
    "sum ^= u32(exp(f32(x[i] >> 28u))); }",
    "halves of a row, with much to compute": "for (var k = 0u; k < n; k += 2u) { let i = w.x * 1024u + k * 64u + t; "
    "sum ^= u32(exp(f32(x[i] >> 28u))); sum += u32(exp(f32(x[i + 64u] >> 28u))); }",
    "far rows": "for (var k = 0u; k < n; k++) { sum += x[k * 1024u + t]; }",
}
NEAR = {
    "rows": "for (var k = 0u; k < n; k++) { sum += x[k * n + t]; }",
    "a row": "for (var k = 0u; k < n; k++) { sum += x[w.x * 1024u + k * 64u + t]; }",
    "halves of a row": "for (var k = 0u; k < n; k += 2u) { let i = w.x * 1024u + k * 64u + t; "
    "sum += x[i] + x[i + 64u]; }",
    "overlapping tiles": "for (var k = 0u; k < n; k++) { sum += x[w.x * 64u + k * 256u + t]; }",
    "rows that a table moves": "for (var k = 0u; k < n; k++) { sum += x[g.x + x[k] + k * (64u * groups.x)]; }",
    "far tiles": "for (var k = 0u; k < n; k++) { sum += x[w.x * 1000000u + k * 256u + t]; }",
}


@pytest.mark.parametrize("name", [*FAR, *NEAR])
@pytest.mark.parametrize("cpu_target", ["x86-64-v3", "x86-64-v4"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_prefetches_and_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    kernel = tinct.load(KERNEL.replace("BODY", (FAR | NEAR)[name]))["main"]
    text = kernel.shader.compilation("main", {}).cpu.llvm(optimised=False)
    assert ("call void @llvm.prefetch" in text) == (name in FAR)
    x = np.random.default_rng(8).integers(0, 1 << 32, 5000).astype(np.uint32)
    buffers = {"x": x, "n": np.uint32(70), "sums": np.zeros(200, np.uint32)}
    found, expected = (kernel.run(buffers, workgroups=3, device=it)["sums"] for it in ("cpu", "interp"))
    np.testing.assert_array_equal(found, expected)
