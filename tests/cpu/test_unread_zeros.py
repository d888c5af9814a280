"""Workgroup memory whose zeros nobody reads is not cleared; where somebody may read one, it is there. Each dispatch has
several workgroups, so that words which an earlier one left would be found.
"""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.unread_zeros import unread_constants
from tinct.ir.hercules.placement import place_nodes

KERNEL = """
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;
struct Pair { first: u32, second: u32 }
var<workgroup> tile: TYPE;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) w: vec3u) {
    var sum = n;
    FILL
    workgroupBarrier();
    USE
    found[w.x * 16u + t] = sum;
}
"""
FLAT = "for (var i = 0u; i < 300u; i++) { sum = sum * 3u + tile[i]; }"
FILLED = {
    "in steps, with a rest": ("array<u32, 300>", "for (var i = t; i < 300u; i += 16u) { tile[i] = x[w.x + i]; }", FLAT),
    "written out": (
        "array<u32, 40>",
        "tile[t] = x[t]; tile[t + 16u] = x[w.x]; if (t + 32u < 40u) { tile[t + 32u] = x[t + w.x]; }",
        "for (var i = 0u; i < 40u; i++) { sum = sum * 3u + tile[i]; }",
    ),
    "rows of steps": (
        "array<u32, 300>",
        "for (var r = 0u; r < 10u; r++) { for (var s = 0u; s < 2u; s++) { let c = s * 16u + t; "
        "if (c < 30u) { tile[r * 30u + c] = x[w.x * r + c]; } } }",
        FLAT,
    ),
    "rows of arrays": (
        "array<array<u32, 16>, 8>",
        "for (var r = 0u; r < 8u; r++) { tile[7u - r][t] = x[w.x + r]; }",
        "for (var i = 0u; i < 128u; i++) { sum = sum * 3u + tile[i / 16u][i % 16u]; }",
    ),
    "both ways of a branch": (
        "array<u32, 16>",
        "if (x[t] > n) { tile[t] = 1u; } else { tile[t] = w.x; }",
        "for (var i = 0u; i < 16u; i++) { sum = sum * 3u + tile[i]; }",
    ),
    "again in each turn": (
        "array<u32, 16>",
        "for (var k = 0u; k < n; k++) { tile[t] = x[k + t + w.x]; workgroupBarrier(); "
        "for (var i = 0u; i < 16u; i++) { sum = sum * 3u + tile[i]; } workgroupBarrier(); }",
        "",
    ),
    "fields": (
        "array<Pair, 16>",
        "tile[t].first = w.x; tile[15u - t].second = x[t];",
        "for (var i = 0u; i < 16u; i++) { sum = sum * 3u + tile[i].first - tile[i].second; }",
    ),
    "one field, and another that stays zero": (
        "array<Pair, 16>",
        "tile[t].first = w.x + x[t];",
        "for (var i = 0u; i < 16u; i++) { sum = sum * 3u + tile[i].first - tile[i].second; }",
    ),
}
READ = {
    "one less": ("array<u32, 300>", "for (var i = t; i < 299u; i += 16u) { tile[i] = x[w.x + i]; }", FLAT),
    "padding": (
        "array<u32, 320>",
        "for (var r = 0u; r < 10u; r++) { tile[r * 32u + t] = x[r]; if (t < 15u) { tile[r * 32u + t + 16u] = w.x; } }",
        "for (var i = 0u; i < 320u; i++) { sum = sum * 3u + tile[i]; }",
    ),
    "by twos": ("array<u32, 300>", "for (var i = 2u * t; i < 300u; i += 32u) { tile[i] = x[w.x + i] + 1u; }", FLAT),
    "a condition on data": (
        "array<u32, 16>",
        "if (x[t] > w.x) { tile[t] = 1u; }",
        "for (var i = 0u; i < 16u; i++) { sum = sum * 3u + tile[i]; }",
    ),
    "turns that data count": ("array<u32, 300>", "for (var i = t; i < n; i += 16u) { tile[i] = x[w.x + i]; }", FLAT),
    "a position in data": (
        "array<u32, 16>",
        "tile[x[t] % 16u] = w.x + 1u;",
        "for (var i = 0u; i < 16u; i++) { sum = sum * 3u + tile[i]; }",
    ),
    "an early end": (
        "array<u32, 300>",
        "for (var i = t; i < 300u; i += 16u) { if (x[i] == n) { break; } tile[i] = x[w.x + i]; }",
        FLAT,
    ),
    "sums": (
        "array<u32, 16>",
        "for (var i = t; i < 64u; i += 16u) { tile[t] += x[i] + w.x; }",
        "for (var i = 0u; i < 16u; i++) { sum = sum * 3u + tile[i]; }",
    ),
    "a turn before it is filled": (
        "array<u32, 16>",
        "for (var k = 0u; k < n; k++) { for (var i = 0u; i < 16u; i++) { sum = sum * 3u + tile[i]; } "
        "workgroupBarrier(); tile[t] = x[k + t + w.x] + 1u; workgroupBarrier(); }",
        "",
    ),
    "without the first ones": (
        "array<u32, 300>",
        "for (var i = t + 16u; i < 300u; i += 16u) { tile[i] = x[w.x + i] + 1u; }",
        FLAT,
    ),
}


def shader(name: str) -> tinct.Shader:
    type, fill, use = (FILLED | READ)[name]
    return tinct.load(KERNEL.replace("TYPE", type).replace("FILL", fill).replace("USE", use))


@pytest.mark.parametrize("name", [*FILLED, *READ])
def test_which_tiles_need_no_zeros(name: str) -> None:
    entry = shader(name).compilation("main", {}).hercules
    assert bool(unread_constants(place_nodes(entry.function))) == (name in FILLED)


@pytest.mark.parametrize("tier", ["gang", "lane", "baseline"])
@pytest.mark.parametrize("name", [*FILLED, *READ])
def test_answers(name: str, tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", tier)
    x = np.random.default_rng(5).integers(0, 40, 400).astype(np.uint32)
    buffers = {"x": x, "n": np.uint32(20), "found": np.zeros(80, np.uint32)}
    kernel = shader(name)["main"]
    found, expected = (kernel.run(buffers, workgroups=5, device=it)["found"] for it in ("cpu", "interp"))
    np.testing.assert_array_equal(found, expected)
