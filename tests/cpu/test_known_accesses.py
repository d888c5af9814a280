"""Exchanges through workgroup memory in loops whose counters take few values: the interpreter's answers on all levels
of the processor, in several spellings, and code without gathers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.cpu.levels import available

import tinct
from tinct.backend.cpu.gangs import budgets
from tinct.backend.cpu.gangs.choice.states import break_even
from tinct.backend.cpu.machine.known import known_costs
from tinct.backend.cpu.target import current_target

LANES = 64
HEAD = """
@group(0) @binding(0) var<storage> order: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;
"""
WORDS = (
    HEAD
    + """
var<workgroup> words: array<u32, 128>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) t: u32) {
    words[t] = order[t] * n;
    words[t + 64u] = order[t] ^ 77u;
LOOPS
    workgroupBarrier();
    found[t] = words[t] * 3u + words[t + 64u];
}
"""
)
LOOPS = {
    "tree by products": """
    var offset = 1u;
    for (var d = 64u; d > 0u; d >>= 1u) {
        workgroupBarrier();
        if t < d { words[offset * (2u * t + 2u) - 1u] += words[offset * (2u * t + 1u) - 1u]; }
        offset *= 2u;
    }
    for (var d = 1u; d < 128u; d *= 2u) {
        offset >>= 1u;
        workgroupBarrier();
        if t < d {
            let ai = offset * (2u * t + 1u) - 1u;
            let bi = offset * (2u * t + 2u) - 1u;
            let left = words[ai];
            words[ai] = words[bi];
            words[bi] += left;
        }
    }""",
    "tree by shifts": """
    for (var level = 0; level < 6; level++) {
        workgroupBarrier();
        let at = ((t + 1u) << u32(level + 1)) - 1u;
        if at < 128u { words[at] += words[at - (1u << u32(level))]; }
    }""",
    "tree by remainders": """
    for (var s = 1u; s < 64u; s *= 2u) {
        workgroupBarrier();
        if t % (2u * s) == 0u { words[t] += words[t + s]; }
    }""",
    "pairs": """
    for (var k = 2u; k <= 128u; k *= 2u) {
        for (var j = k / 2u; j > 0u; j /= 2u) {
            workgroupBarrier();
            let i = 2u * t - (t & (j - 1u));
            let a = words[i];
            let b = words[i + j];
            if (a > b) == ((i & k) == 0u) {
                words[i] = b;
                words[i + j] = a;
            }
        }
    }""",
    "pairs by quotients, counted down": """
    for (var level = 5; level >= 0; level--) {
        workgroupBarrier();
        let j = 1u << u32(level);
        let i = t / j * j * 2u + t % j;
        let sum = words[i] + 5u * words[i + j];
        words[i + j] = words[i] ^ n;
        words[i] = sum;
    }""",
    "partners": """
    var j = 32i;
    while j > 0 {
        workgroupBarrier();
        let partner = i32(t) ^ j;
        if partner > i32(t) {
            let a = words[t];
            let b = words[partner];
            words[t] = min(a, b);
            words[partner] = max(a, b);
        }
        j /= 2;
    }""",
    "merge": """
    for (var size = 2u; size <= 128u; size <<= 1u) {
        var stride = size >> 1u;
        let offset = t & (stride - 1u);
        while stride > 0u {
            workgroupBarrier();
            let at = 2u * t - (t & (stride - 1u));
            if offset >= stride {
                let a = words[at - stride];
                words[at - stride] = min(a, words[at]);
                words[at] = max(a, words[at]);
            }
            stride >>= 1u;
        }
    }""",
    "one place for several lanes, or beyond the end": """
    for (var s = 1u; s < 200u; s *= 3u) {
        workgroupBarrier();
        let last = words[t / s * s * 2u];
        workgroupBarrier();
        words[(t + s) % 64u] = last + words[t * s + 1u];
        workgroupBarrier();
        if (order[t] & 1u) == 0u && t > 3u { words[t * 2u % 126u + 1u] = s; }
    }""",
}
RECORDS = (
    HEAD
    + """
struct Node { weight: f32, child: u32 }
var<workgroup> nodes: array<Node, 64>;
var<workgroup> pairs: array<vec2f, 80>;
var<workgroup> quads: array<vec4u, 64>;
var<workgroup> grid: array<array<i32, 8>, 16>;
var<workgroup> flags: array<bool, 64>;
@compute @workgroup_size(8, 8)
fn main(@builtin(local_invocation_index) t: u32, @builtin(local_invocation_id) id: vec3u) {
    nodes[t] = Node(f32(t), 1000u - t);
    pairs[t] = vec2f(f32(3u * t), f32(n));
    quads[t] = vec4u(t, n, 7u, 3u * t);
    grid[id.y][id.x] = i32(order[t]);
    grid[id.y + 8u][id.x] = i32(t);
    flags[t] = order[t] > 20u;
    for (var j = 1u; j < 64u; j *= 4u) {
        workgroupBarrier();
        let at = t / j * j * 2u % 64u + t % j;
        let node = nodes[at];
        let pair = pairs[t ^ j];
        let quad = quads[63u - at];
        let sum = u32(grid[id.x][id.y ^ (j & 7u)]) + u32(grid[id.y * 2u][(id.x + j) % 8u]) + u32(flags[at]);
        workgroupBarrier();
        nodes[t] = Node(node.weight + 1.0, node.child ^ j);
        if t % 3u != 0u { pairs[t ^ j] = vec2f(pair.y, pair.x + f32(j)); }
        quads[(t * 5u) % 64u] = quad.yzwx;
        grid[id.x * 2u][id.y] = i32(sum);
        flags[t ^ j] = sum > 30u;
        workgroupBarrier();
        if (order[t] & 1u) == 0u { nodes[t ^ j].child = sum; }
    }
    workgroupBarrier();
    found[t] = u32(nodes[t].weight) + nodes[t].child * 3u + u32(pairs[t].x * 5.0 - pairs[t].y)
        + quads[t].x * 7u + quads[t].w + u32(grid[id.y][id.x]) + u32(grid[id.y + 8u][id.x]) + u32(flags[t]);
}
"""
)


def answer(text: str, device: str) -> np.ndarray:
    order = np.random.default_rng(5).permutation(LANES).astype(np.uint32)
    buffers = {"order": order, "n": np.uint32(17), "found": np.arange(LANES, dtype=np.uint32)}
    return tinct.load(text)["main"].run(buffers, workgroups=1, device=device)["found"]


def words(*names: str) -> str:
    return WORDS.replace("LOOPS", "".join(LOOPS[it] for it in names))


@pytest.mark.parametrize(
    "text",
    [pytest.param(words(it), id=it) for it in LOOPS] + [pytest.param(RECORDS, id="records")],
)
def test_answers(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answer(text, "interp")
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        np.testing.assert_array_equal(answer(text, "cpu"), expected, err_msg=level)


@pytest.mark.parametrize("name", ["tree by products", "pairs", "pairs by quotients, counted down", "partners"])
@pytest.mark.parametrize("cpu_target", ["x86-64-v3", "x86-64-v4"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_accesses_are_vectors(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops that are too long to be straight access workgroup memory without gathers and scatters. On vectors of four
    lanes those take too little time for states.
    """
    monkeypatch.setattr(budgets, "STRAIGHT", 0)
    code = tinct.load(words(name)).compilation("main", {}).cpu.llvm(optimised=False)
    states = code[code.index("switch i64") :]
    after = states.index("\njoin")
    assert "llvm.masked" not in states[:after]


def test_states_gain_more_where_gathers_and_scatters_take_longer() -> None:
    costs = replace(known_costs(current_target()).access, gather=6.0, shuffle=0.25)
    times = [(0.25, 0.75), (2.0, 2.0), (2.5, 4.5), (9.0, 1.0)]
    shares = [break_even(replace(costs, loads=loads, scatter=scatter)) for loads, scatter in times]
    assert shares == [1.0, 1 / 2.5, 1 / 4, 1 / 4]
