"""Calls of float functions that gangs make together are, bit for bit, those that single lanes make."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tinct

HEAD = """
@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4f>;
var<workgroup> tile: array<vec4f, 64>;
"""
BODIES = {
    "components": "y[i] = exp2(x[i]);",
    "three components": "y[i] = vec4f(log(x[i].xyz), 1.0);",
    "one component": "y[i].x = pow(abs(x[i].x), x[i].y);",
    "a call that needs another": "let a = exp(x[i].x); y[i] = vec4f(a, exp(a), exp(x[i].y), exp(exp(x[i].z)));",
    "several functions": "y[i] = sin(x[i]) + atan2(x[i], exp(x[i].wzyx)) * inverseSqrt(abs(x[i]));",
    "positions that need a call": "y[i] = exp(x[u32(abs(exp(x[i].x)) * 3.0) % 64u]) + exp(x[i]);",
    "a mask": "if x[i].x > 0.0 { y[i] = log2(x[i]) + log2(x[i].yzwx); }",
    "a loop that lanes leave": """
        var v = x[i];
        for (var k = 0; k < 9; k++) { v = exp(v) - v; if v.x > 50.0 { break; } v = sin(v); }
        y[i] = v;""",
    "values across barriers": """
        tile[l] = exp(x[i]); workgroupBarrier(); let v = exp(tile[63u - l]) + exp(x[i].yxwz); workgroupBarrier();
        tile[l] = v; workgroupBarrier(); y[i] = tile[l ^ 5u] + exp(v);""",
}


def run(body: str, tier: str, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    monkeypatch.setenv("TINCT_CPU_TIER", tier)
    source = f"""{HEAD}@compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) l: u32) {{
            let i = id.x; {body} }}"""
    x = np.random.default_rng(7).uniform(-4, 4, (128, 4)).astype(np.float32)
    x[3], x[40] = (0.0, np.inf, -np.inf, np.nan), (1e-45, 3e38, -1e-40, 1.0)
    kernel = tinct.load(source)["main"]
    assert kernel.shader.compilation("main", {}).cpu.tier == tier
    return kernel.run({"x": x, "y": np.zeros_like(x)}, threads=128)["y"]


@pytest.mark.parametrize("name", BODIES)
def test_tiers_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lane, gang = (run(BODIES[name], tier, monkeypatch) for tier in ("lane", "gang"))
    is_number = ~np.isnan(lane)
    assert is_number.any()
    np.testing.assert_array_equal(np.isnan(gang), ~is_number)
    np.testing.assert_array_equal(gang[is_number].view(np.uint32), lane[is_number].view(np.uint32))


def test_pairs_of_calls_are_one() -> None:
    source = f"{HEAD}@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{"
    kernel = tinct.load(f"{source} y[id.x] = exp(x[id.x]); }}").compilation("main", {}).cpu
    calls = re.findall(r"call <(\d+) x float> @wgsl.exp", kernel.llvm(optimised=False))
    lanes = {int(it) for it in re.findall(r"load <(\d+) x float>", kernel.llvm(optimised=False))}
    assert [int(it) for it in calls] == [2 * max(lanes)] * 2
