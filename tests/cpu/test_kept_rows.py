"""Loops along rows of workgroup memory, which are kept as vectors meanwhile, give the same words."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry, llvm
from tinct.backend.cpu.machine import costs_so_far
from tinct.backend.cpu.options import Tier
from tinct.backend.cpu.target import compiling_for
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.to_hercules import translate

WIDTH = 64
WORDS = WIDTH * 40

KEPT = {
    "a running sum": "for (var k = 0u; k < 16u; k++) { sum += a[at * 16u + k]; a[at * 16u + k] = sum; }",
    "a sum": "for (var k = 0u; k < 16u; k++) { sum = sum * 3u + a[at * 16u + k]; }",
    "bits": "for (var k = 0u; k < 16u; k++) { a[(at << 4u) | k] += sum; sum += k; }",
    "down": "for (var k = 15u; k > 2u; k--) { sum = sum * 3u + a[at * 16u + k]; a[at * 16u + k] = sum; }",
    "four words": "for (var k = 0u; k < 4u; k++) { sum += a[at * 4u + k]; a[at * 4u + k] = sum; }",
    "eight words": "for (var k = 0u; k < 8u; k++) { sum += a[at * 8u + k]; a[at * 8u + k] = sum; }",
    "rows with room between them": "for (var k = 0u; k < 16u; k++) { sum += a[at * 17u + k]; a[at * 17u + k] = sum; }",
    "17 words": "for (var k = 0u; k < 17u; k++) { sum += a[at * 17u + k + 5u]; a[at * 17u + k + 5u] = sum; }",
    "32 words": "for (var k = 0u; k < 32u; k++) { sum += a[at * 32u + k]; a[at * 32u + k] = sum; }",
    "a counter from elsewhere": """for (var k = at * 16u; k < at * 16u + 16u; k++) { sum += a[k]; a[k] = sum; }""",
    "neighbours": "for (var k = 1u; k < 16u; k++) { a[at * 16u + k] += a[at * 16u + k - 1u]; }",
    "every second word": "for (var k = 0u; k < 30u; k += 2u) { sum += a[at * 31u + k]; a[at * 31u + k + 1u] = sum; }",
    "some lanes": """for (var k = 0u; k < 16u; k++) {
        if (a[at * 16u + k] + at) % 3u == 1u { a[at * 16u + k] = sum; } sum += a[at * 16u + k] ^ k; }""",
    "only written": "for (var k = 0u; k < 16u; k++) { sum = sum * 3u + at; a[at * 16u + k] = sum; }",
    "written by some": "for (var k = 0u; k < 16u; k++) { if (at ^ k) % 3u != 0u { a[at * 16u + k] = sum + k; } }",
    "written in part": "for (var k = 0u; k < 16u; k++) { if k != 9u { a[at * 16u + k] = sum + k; } }",
    "two loops": """for (var k = 0u; k < 16u; k++) { sum += a[at * 16u + k]; }
        for (var k = 0u; k < 16u; k++) { a[at * 16u + k] += sum; }""",
    "rows of rows": "for (var k = 0u; k < 20u; k++) { sum += b[at][k]; b[at][k] = sum * 5u; }",
    "floats": "for (var k = 0u; k < 16u; k++) { f[at * 16u + k] = f[at * 16u + k] * 0.5 + f32(k + sum); }",
}
APART = {
    "rows that overlap": "for (var k = 0u; k < 16u; k++) { sum += a[at * 15u + k]; a[at * 15u + k] = sum; }",
    "words in turn": "for (var k = 0u; k < 16u; k++) { sum += a[at * 16u + ((k + at) & 15u)]; }",
    "some lanes enter": """if (seed[at] & 1u) == 1u {
        for (var k = 0u; k < 16u; k++) { sum += a[at * 16u + k]; a[at * 16u + k] = sum; } }""",
    "others' words": "for (var k = 0u; k < 16u; k++) { sum += a[at * 16u + k]; a[1100u + at] += sum; }",
    "a length from a buffer": "for (var k = 0u; k < n; k++) { sum += a[at * 16u + k]; }",
    "columns": "for (var k = 0u; k < 16u; k++) { sum += a[k * 64u + at]; a[k * 64u + at] = sum; }",
    "beyond the end": "for (var k = 0u; k < 32u; k++) { sum += a[at * 64u + k]; }",
}


def kernel(body: str, tier: Tier = "gang") -> CompiledKernel:
    text = f"""
@group(0) @binding(0) var<storage> seed: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
var<workgroup> a: array<u32, {WORDS}>;
var<workgroup> b: array<array<u32, 20>, {WIDTH}>;
var<workgroup> f: array<f32, 1024>;
@compute @workgroup_size({WIDTH})
fn main(@builtin(local_invocation_index) at: u32, @builtin(workgroup_id) group: vec3u) {{
    let n = arrayLength(&seed) / {WIDTH}u;
    let start = group.x * {WORDS}u;
    for (var k = at; k < {WORDS}u; k += {WIDTH}u) {{ a[k] = seed[k % arrayLength(&seed)] + group.x; }}
    for (var k = 0u; k < 20u; k++) {{ b[k % 7u + at - at % 7u][k] = seed[at] ^ k; }}
    for (var k = at; k < 1024u; k += {WIDTH}u) {{ f[k] = f32(seed[at] % 77u); }}
    workgroupBarrier();
    var sum = seed[at] % 5u;
    {body}
    workgroupBarrier();
    for (var k = at; k < {WORDS}u; k += {WIDTH}u) {{ y[start + k] = a[k] + bitcast<u32>(f[k % 1024u]); }}
    for (var k = 0u; k < 20u; k++) {{ y[start + k * {WIDTH}u + at] += sum + b[at][k]; }}
}}"""
    made = translate(build(load_program(Source("test.wgsl", text.encode()))), "main")
    return compile_entry(made, CpuOptions(tier))


def results(compiled: CompiledKernel) -> bytes:
    seed, y = np.random.default_rng(1).integers(0, 1 << 32, 9 * WIDTH, np.uint32), np.zeros(3 * WORDS, np.uint32)
    compiled.run([seed.view(np.uint8), y.view(np.uint8)], (3, 1, 1), workers=1)
    return y.tobytes()


@pytest.fixture
def keeping_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """On all machines."""
    access = replace(costs_so_far().access, gather=9.0, loads=9.0, scatter=9.0, stores=9.0, shuffle=0.1)
    monkeypatch.setattr(llvm, "costs_so_far", lambda: replace(costs_so_far(), access=access))


@cache
def expected(body: str) -> bytes:
    """The results of invocations one by one."""
    return results(kernel(body, "lane"))


def kept(compiled: CompiledKernel, lanes: int) -> int:
    """How many rows are kept, for the target of now."""
    return compiled.llvm(optimised=False).count(f"x [{lanes} x i32]], align {lanes * 4}")


@cache
def kept_outside(target: str, lanes: int) -> int:
    """How many rows the loops around the one in the middle keep, where keeping pays."""
    with compiling_for(target):
        return kept(kernel(""), lanes)


@pytest.mark.parametrize(("target", "lanes"), [("x86-64-v2", 4), ("x86-64-v3", 8), ("x86-64-v4", 16)])
@pytest.mark.parametrize("name", KEPT)
def test_rows_are_kept(keeping_pays: None, name: str, target: str, lanes: int) -> None:
    with compiling_for(target):
        found = kernel(KEPT[name])
        assert found.tier == "gang", found.tier_reason
        assert kept(found, lanes) > kept_outside(target, lanes)
    assert results(found) == expected(KEPT[name])


@pytest.mark.parametrize("name", APART)
def test_others_are_not(keeping_pays: None, name: str) -> None:
    with compiling_for("x86-64-v3"):
        found = kernel(APART[name])
        assert kept(found, 8) == kept_outside("x86-64-v3", 8)
    if name != "rows that overlap":  # a race
        assert results(found) == expected(APART[name])


def test_rows_are_not_kept_where_that_takes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    access = replace(costs_so_far().access, gather=0.1, loads=0.1, scatter=0.1, stores=0.1, shuffle=1.0)
    monkeypatch.setattr(llvm, "costs_so_far", lambda: replace(costs_so_far(), access=access))
    with compiling_for("x86-64-v3"):
        assert kept(kernel(KEPT["a running sum"]), 8) == kept(kernel(""), 8)
