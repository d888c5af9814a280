"""Loads from workgroup memory by windows, and counters there, for every kind of position: the interpreter's answers, on
all tiers and levels of the processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.cpu.levels import available

import tinct
from tinct.backend.cpu.gangs.memory.windows import windows_pay
from tinct.backend.cpu.machine import costs_so_far

LANES = 64
POSITIONS = """
2u * t
(2u * t + 1u) % 100u
2u * t - (t & (j - 1u))
2u * t - (t & (j - 1u)) + j
2u * t - (t & (j - 1u)) - j
t ^ j
t / j * j * 2u + t % j
(t + j) % 64u
63u - t
reverseBits(t) >> 26u
order[t]
(t + 40u) * j
(t * 37u) % 100u
max(t, 40u) + 36u
""".strip().splitlines()
"""Strides, pairs of networks and what lies before them, flipped bits, butterflies, rotations, reversals, any order, and
positions that are far apart, past the end, or in the last elements.
"""
WORDS = """
@group(0) @binding(0) var<storage> order: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;
var<workgroup> words: array<u32, 100>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) t: u32) {
    for (var i = t; i < 100u; i += 64u) { words[i] = i * i + n; }
    workgroupBarrier();
    for (var j = 1u; j < n; j *= 2u) {
        var sum = found[t] * 31u;
LOADS
        found[t] = sum;
        workgroupBarrier();
    }
}
"""
RECORDS = """
struct Node { weight: f32, child: u32, place: vec2i }
@group(0) @binding(0) var<storage> order: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;
var<workgroup> nodes: array<Node, 80>;
var<workgroup> pairs: array<vec2f, 80>;
var<workgroup> grid: array<array<i32, 10>, 8>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) t: u32) {
    for (var i = t; i < 80u; i += 64u) {
        nodes[i] = Node(f32(i), 1000u - i, vec2i(i32(i), i32(2u * i)));
        pairs[i] = vec2f(f32(3u * i), f32(i));
        grid[i / 10u][i % 10u] = i32(i * 3u);
    }
    workgroupBarrier();
    for (var j = 1u; j < n; j *= 2u) {
        let at = (t ^ j) + 16u;
        var sum = found[t] * 31u + u32(nodes[at].place.y) * 5u + nodes[at].child + u32(nodes[0].place[order[t] & 1u]);
        if (order[t] & 1u) == 0u { sum ^= u32(grid[at / 10u][at % 10u] * 7); }
        let pair = pairs[2u * t - (t & (j - 1u))];
        found[t] = sum + u32(pair.x * 2.0 - pair.y);
        workgroupBarrier();
    }
}
"""
COUNTERS = """
@group(0) @binding(0) var<storage> order: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;
var<workgroup> counts: array<atomic<u32>, 20>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) t: u32) {
    for (var i = 0u; i < 16u; i++) { atomicAdd(&counts[(order[t] * (i + 1u)) % 20u], 1u); }
    if t < n { atomicAdd(&counts[order[t] % 20u], t); }
    workgroupBarrier();
    atomicMax(&counts[order[63u - t] % 3u], t * 50u);
    workgroupBarrier();
    if t < 20u { found[t] = atomicLoad(&counts[t]); }
}
"""


def answer(text: str, device: str) -> np.ndarray:
    order = np.random.default_rng(5).permutation(LANES).astype(np.uint32)
    buffers = {"order": order, "n": np.uint32(17), "found": np.arange(LANES, dtype=np.uint32)}
    return tinct.load(text)["main"].run(buffers, workgroups=1, device=device)["found"]


def loads(positions: Sequence[str]) -> str:
    """A kernel that loads from these positions, from each also in half of the lanes."""
    lines = [f"sum = sum * 31u + words[{it}];" for it in positions]
    lines += [f"if (order[t] & 2u) == 0u {{ sum ^= words[{it}]; }}" for it in positions]
    return WORDS.replace("LOADS", "\n".join(lines))


@pytest.mark.parametrize(
    ("text", "tiers"),
    [
        pytest.param(loads(POSITIONS[:7]), ["gang"], id="networks"),
        pytest.param(loads(POSITIONS[7:]), ["gang"], id="others"),
        pytest.param(RECORDS, ["gang"], id="records"),
        pytest.param(COUNTERS, ["gang", "lane", "baseline"], id="counters"),
    ],
)
def test_answers(text: str, tiers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answer(text, "interp")
    for tier in tiers:
        monkeypatch.setenv("TINCT_CPU_TIER", tier)
        for level in available():
            monkeypatch.setenv("TINCT_CPU_TARGET", level)
            np.testing.assert_array_equal(answer(text, "cpu"), expected, err_msg=f"{tier} {level}")


@pytest.mark.parametrize(("level", "instruction"), [("x86-64-v3", "avx2.permd"), ("x86-64-v4", "avx512.vpermi2var.d")])
def test_windows_are_used(level: str, instruction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if level not in available():
        pytest.skip(f"this machine has no {level}")
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    code = tinct.load(loads(["order[t]"])).compilation("main", {}).cpu.llvm(optimised=False)
    assert f"call <{8 if 'avx2' in instruction else 16} x i32> @llvm.x86.{instruction}" in code


def test_windows_pay_where_gathers_are_slow() -> None:
    costs = costs_so_far().access
    assert windows_pay(replace(costs, gather=6.4, shuffle=0.3))
    assert not windows_pay(replace(costs, gather=1.0, shuffle=0.5))
