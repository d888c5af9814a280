"""Gangs of several vectors: idle parts, values across barriers, rows, and workgroup memory that ends in registers."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.transforms.to_hercules import outline

HEAD = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>, 8>;
var<workgroup> tile: array<u32, 256>;
"""
BODIES = {
    "atomics of some parts": """
        if (i < 5u) { for (var k = 0u; k < 3u; k++) { atomicAdd(&counts[(i + data[k]) % 8u], data[g]); } }
        out[g] = g;""",
    "old values of some parts": """
        var v = 0u;
        for (var k = 0u; k < 2u; k++) { if (i >= 3u && data[k] < 90u) { v += atomicOr(&counts[k], 0u) + k; } }
        out[g] = v;""",
    "one part's store to one place": """
        for (var k = 0u; k < 2u; k++) { if (i == SIZE - 1u) { out[w.x] = data[k] + i; } }""",
    "a value across barriers": """
        var v = data[g]; tile[i] = v; workgroupBarrier();
        for (var k = 0u; k < 4u; k++) { v += tile[(i + k) % SIZE]; }
        workgroupBarrier(); tile[i] = v; workgroupBarrier(); out[g] = tile[SIZE - 1u - i] + v;""",
    "a tree": """
        tile[i] = data[g];
        for (var reach = 64u; reach > 0u; reach /= 2u) {
            workgroupBarrier(); if (i < reach && i + reach < SIZE) { tile[i] += tile[i + reach]; } }
        workgroupBarrier(); out[g] = tile[0] + tile[i];""",
    "partners": """
        tile[i] = data[g]; workgroupBarrier();
        for (var run = 2u; run <= 64u; run <<= 1u) { for (var reach = run / 2u; reach > 0u; reach >>= 1u) {
            let mine = tile[i]; let other = tile[i ^ reach]; workgroupBarrier();
            tile[i] = select(max(mine, other), min(mine, other), (i < (i ^ reach)) == ((i & run) == 0u));
            workgroupBarrier(); } }
        out[g] = tile[i];""",
    "partners that are not known": """
        tile[i] = data[g]; workgroupBarrier(); out[g] = tile[i ^ data[w.x]] + tile[data[1] ^ i ^ 5u];""",
    "partners out of range": "out[g] = data[i ^ (data[w.x] * 7u)];",
    "rows": """
        tile[i] = data[g]; workgroupBarrier(); var v = 0u;
        for (var k = 0u; k < 8u; k++) { v = v * 3u + tile[l.y * 8u + k] * tile[(k * 8u + l.x) % SIZE] + data[g - k]; }
        out[g] = v;""",
    "rows that end apart": """
        var v = data[g];
        for (var k = 0u; k < l.y + 2u; k++) { v += data[l.y + k] ^ k; if (v % 7u == 3u) { break; } }
        out[g] = v;""",
}
SIZES = ["8, 8", "16, 4", "16, 16", "32", "64", "128", "250", "8, 2", "2, 8, 4", "48"]


def kernel(name: str, size: str) -> tinct.Kernel:
    count = int(np.prod([int(it) for it in size.split(",")]))
    body = BODIES[name].replace("SIZE", f"{count}u")
    return tinct.load(f"""{HEAD}
@compute @workgroup_size({size}) fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u,
    @builtin(local_invocation_id) l: vec3u) {{ let g = w.x * {count}u + i; {body} }}""")["main"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", BODIES)
def test_parts_agree_with_the_interpreter(name: str, size: str) -> None:
    data = np.random.default_rng(3).integers(0, 97, 700, np.uint32)
    buffers = {"out": np.zeros(700, np.uint32), "data": data, "counts": np.arange(8, dtype=np.uint32)}
    found = kernel(name, size)
    used = {it.name: buffers[it.name] for it in found.bindings}
    expected = found.run(used, workgroups=3, device="interp")
    for output, array in found.run(used, workgroups=3).items():
        np.testing.assert_array_equal(array, expected[output], output)


def test_a_short_workgroup_keeps_its_values_in_registers() -> None:
    optimised = kernel("partners", "64").shader.compilation("main", {}).cpu.llvm()
    assert "alloca" not in optimised


def test_an_argument_of_a_call_may_differ_between_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "MOST_NODES", 0)  # all functions stay functions
    monkeypatch.setattr(outline, "SMALLEST", 0)
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    found = tinct.load(f"""{HEAD}
fn mixed(a: u32, b: u32) -> u32 {{
    var s = a;
    for (var k = 0u; k < b % 5u; k++) {{ s = s * 31u + data[(k + s) % 64u]; if (s % 7u == 3u) {{ return s; }} }}
    return s ^ b;
}}
@compute @workgroup_size(8, 8) fn main(@builtin(local_invocation_id) l: vec3u) {{
    var t = 0u;
    for (var k = 0u; k < 3u; k++) {{ t += data[k + l.x] + mixed(l.y, l.x + k); }}
    out[l.y * 8u + l.x] = t + mixed(l.y + 1u, l.y);
}}""")["main"]
    assert "@called" in found.shader.compilation("main", {}).cpu.llvm(optimised=False)
    buffers = {"out": np.zeros(64, np.uint32), "data": np.random.default_rng(3).integers(0, 97, 64, np.uint32)}
    expected = found.run(buffers, workgroups=1, device="interp")["out"]
    np.testing.assert_array_equal(found.run(buffers, workgroups=1)["out"], expected)
