"""Workgroup memory in registers: loops around barriers that are written iteration after iteration."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cpu.levels import available

import tinct

WIDTH, GROUPS, LENGTH = 64, 3, 150
HEAD = """
@group(0) @binding(0) var<storage> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<atomic<u32>>;
var<workgroup> words: array<u32, 128>;
struct Pair { least: f32, count: u32 }
var<workgroup> pairs: array<Pair, 64>;
var<workgroup> rows: array<array<u32, 32>, 4>;
"""
MAIN = (
    HEAD
    + """
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) t: u32) {
    let start = group.x * 64u;
BODY
}
"""
)
LOADED = "words[t] = 0u; if start + t < arrayLength(&given) { words[t] = given[start + t]; }"
STORED = "workgroupBarrier(); if start + t < arrayLength(&found) { found[start + t] = words[t]; }"
SCAN = """
    for (var reach = 1u; reach < 64u; reach *= 2u) {
        workgroupBarrier();
        var sum = words[t];
        if t >= reach { sum += words[t - reach]; }
        workgroupBarrier();
        words[t] = sum;
    }"""
BODIES = {
    "a scan": LOADED + SCAN + STORED,
    "halves, of which a counter says the last": """
    var half = 0u;
    words[t] = given[start + t];
    for (var reach = 1u; reach < 64u; reach <<= 1u) {
        workgroupBarrier();
        let sum = words[half + t] + select(0u, words[half + max(t, reach) - reach], t >= reach);
        half = 64u - half;
        words[half + t] = sum;
    }
    workgroupBarrier();
    if start + t < arrayLength(&found) { found[start + t] = words[half + t] + half; }""",
    "turns that all threads take": """
    for (var i = t; i < 128u; i += 64u) { words[i] = given[start + i] * (i + 1u); }
    for (var half = 1u; half < 128u; half *= 2u) {
        workgroupBarrier();
        let last = t / half * half * 2u + half - 1u;
        words[last + 1u + t % half] += words[last];
    }
    workgroupBarrier();
    var sum = 0u;
    for (var i = t; i < 128u; i += 64u) { sum = sum * 5u + words[i]; }
    if start + t < arrayLength(&found) { found[start + t] = sum; }""",
    "a loop and an atomic operation of one thread": LOADED
    + SCAN
    + """
    workgroupBarrier();
    if t == 63u {
        var sum = words[t];
        while sum % 7u != 3u { sum += words[0] % 3u + 1u; }
        atomicAdd(&totals[0], sum);
    }"""
    + STORED,
    "a loop that only the last iteration enters": """
    for (var y = 0u; y < 8u; y++) {
        workgroupBarrier();
        words[t] = given[start + t] * (y + 1u);
        workgroupBarrier();
        if y < 7u {
            found[start + t] = 1u;
        } else {
            var sum = y;
            for (var k = 0u; k < 5u; k++) { sum = sum * 3u + words[(k + t) % 64u]; }
            if group.x < 2u { found[start + t] = sum; }
        }
    }""",
    "a value read by all": LOADED
    + SCAN
    + """
    workgroupBarrier();
    let total = workgroupUniformLoad(&words[63]);
    if start + t < arrayLength(&found) { found[start + t] = total - words[t]; }""",
    "nested loops": LOADED
    + """
    for (var size = 2u; size <= 64u; size *= 2u) {
        for (var gap = size / 2u; gap > 0u; gap /= 2u) {
            workgroupBarrier();
            let low = t / gap * gap * 2u + t % gap;
            if low + gap < 64u {
                let left = words[low];
                let right = words[low + gap];
                if (left > right) == ((low & size) == 0u) { words[low] = right; words[low + gap] = left; }
            }
        }
    }"""
    + STORED,
    "structures around a ring": """
    pairs[t] = Pair(f32(given[start + t]), t);
    for (var reach = 1u; reach < 64u; reach *= 2u) {
        workgroupBarrier();
        let other = pairs[(t + reach) % 64u];
        workgroupBarrier();
        pairs[t].least = min(pairs[t].least, other.least);
        pairs[t].count += other.count;
    }
    workgroupBarrier();
    if start + t < arrayLength(&found) { found[start + t] = u32(pairs[t].least) + pairs[t].count; }""",
    "rows by a counter": """
    rows[0][t % 32u] = given[start + t / 2u];
    for (var k = 0u; k < 3u; k++) {
        workgroupBarrier();
        if t < 32u { rows[k + 1u][t ^ 5u] = rows[k][(t + 3u) % 32u] * 3u + k; }
    }
    workgroupBarrier();
    if start + t < arrayLength(&found) { found[start + t] = rows[t / 32u + 2u][t % 32u]; }""",
    "rounds without a loop": LOADED
    + """
    workgroupBarrier();
    if t < 32u { words[t] += words[t + 32u]; }
    workgroupBarrier();
    if t < 16u { words[t] += words[31u - t]; }
    workgroupBarrier();
    if t < 8u { words[2u * t] += words[2u * t + 1u]; }"""
    + STORED,
    "an atomic operation of one thread in each iteration": LOADED
    + SCAN.replace("workgroupBarrier();", "workgroupBarrier(); if t == reach { atomicAdd(&totals[1], words[t]); }", 1)
    + STORED,
}


def answer(name: str, device: str) -> dict[str, np.ndarray]:
    given = np.random.default_rng(7).integers(0, 1000, LENGTH, dtype=np.uint32)
    buffers = {"given": given, "found": np.zeros(LENGTH, np.uint32), "totals": np.zeros(2, np.uint32)}
    if "totals" not in BODIES[name]:
        del buffers["totals"]
    return tinct.load(MAIN.replace("BODY", BODIES[name]))["main"].run(buffers, workgroups=GROUPS, device=device)


@pytest.mark.parametrize("name", BODIES)
def test_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answer(name, "interp")
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        for buffer, values in answer(name, "cpu").items():
            np.testing.assert_array_equal(values, expected[buffer], err_msg=f"{level} {buffer}")


@pytest.mark.parametrize("name", BODIES)
def test_memory_is_in_registers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM has taken workgroup memory apart."""
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    code = tinct.load(MAIN.replace("BODY", BODIES[name])).compilation("main", {}).cpu.llvm()
    assert " x i8], align 64" not in code


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            LOADED + "workgroupBarrier(); found[start + t] = words[63u - t] + words[(t + 5u) % 64u];",
            id="a tile that is filled once",
        ),
        pytest.param(
            "for (var i = t; i < 128u; i += 64u) { rows[i / 32u][i % 32u] = given[start + i]; }"
            + LOADED
            + SCAN
            + "workgroupBarrier(); let total = words[63]; "
            "for (var i = t; i < 128u; i += 64u) { found[start + i] = rows[i / 32u][i % 32u] * total; }",
            id="a tile that loops fill once and read, beside a scan",
        ),
        pytest.param(
            LOADED + SCAN.replace("words[t] = sum;", "words[t] = sum; atomicAdd(&totals[t % 2u], sum);") + STORED,
            id="atomic operations of all threads",
        ),
        pytest.param(
            LOADED + SCAN.replace("reach < 64u", "reach < given[0]") + STORED, id="a loop whose turns are not known"
        ),
    ],
)
def test_others_stay_in_memory(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    code = tinct.load(MAIN.replace("BODY", body)).compilation("main", {}).cpu.llvm()
    assert " x i8], align 64" in code
