"""Jumps around blocks that no lane passes: which blocks have none, and that masks then give the same values."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry
from tinct.backend.cpu.options import Tier
from tinct.backend.cpu.target import compiling_for
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.to_hercules import translate

HEAD = """
@group(0) @binding(0) var<storage> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x; let n = u32(x[i]); var a = 0.0; var b = 1.0; var c = 2.0; var d = 3.0; var t = x[i + 1u];
"""
CHANGE = "a += t * 2.0; b = max(b, a - t); c -= b * t; d += c * 0.5 - a; t += min(d, 3.0);"
OPTIONAL = {
    "a branch": f"for (var k = 0u; k < n; k++) {{ t += 0.25; if t > b {{ {CHANGE} }} }}",
    "continue": f"for (var k = 0u; k < n; k++) {{ t += 0.25; if t <= b {{ continue; }} {CHANGE} }}",
}
GUARDED = {
    "a gang of several parts": f"for (var k = 0u; k < 900u; k++) {{ t += 0.25; if t > b {{ {CHANGE} }} }}",
    "the body of a loop": f"for (var k = 0u; k < n; k++) {{ {CHANGE} }}",
    "what follows a break": f"for (var k = 0u; k < 9u; k++) {{ t += 0.25; if t > b {{ break; }} {CHANGE} }}",
    "a branch outside of loops": f"if t > b {{ {CHANGE} }}",
    "scattered loads": """for (var k = 0u; k < n; k++) { t += 0.25; if t > b {
        a += x[u32(t * 9.0) & 63u] + x[u32(t * 7.0) & 63u] + x[u32(t * 5.0) & 31u]; b -= a; } }""",
    "a long block": f"for (var k = 0u; k < n; k++) {{ t += 0.25; if t > b {{ {CHANGE * 3} }} }}",
}


def kernel(body: str, tier: Tier = "gang") -> CompiledKernel:
    text = f"{HEAD} {body} y[i] = a + b * c - d + t; }}"
    return compile_entry(translate(build(load_program(Source("test.wgsl", text.encode()))), "main"), CpuOptions(tier))


def results(compiled: CompiledKernel) -> bytes:
    x = np.random.default_rng(1).integers(0, 9, 200).astype(np.float32)
    y = np.zeros(192, np.float32)
    compiled.run([x.view(np.uint8), y.view(np.uint8)], (3, 1, 1), workers=1)
    return y.tobytes()


def guards(compiled: CompiledKernel) -> int:
    return len(re.findall(r"^some\.\d+:", compiled.llvm(optimised=False), re.MULTILINE))


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", [*OPTIONAL, *GUARDED])
def test_values_are_the_same(name: str, target: str) -> None:
    body = (OPTIONAL | GUARDED)[name]
    expected = results(kernel(body, "lane"))
    with compiling_for(target):
        assert results(kernel(body)) == expected


def test_only_dear_blocks_and_those_that_end_loops_have_jumps() -> None:
    with compiling_for("x86-64-v4"):
        assert not any(guards(kernel(it)) for it in OPTIONAL.values())
        assert all(guards(kernel(it)) > 0 for it in GUARDED.values())
