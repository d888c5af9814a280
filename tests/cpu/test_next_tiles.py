"""Tiles that are prefetched where the workgroup before computes: in which loops, and how many lines in each turn."""

from __future__ import annotations

import re
from typing import cast

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.gangs.analysis.forms import Form
from tinct.backend.cpu.gangs.analysis.next_tiles import NextTile, Rows
from tinct.backend.cpu.storage import Storage
from tinct.ir.hercules import nodes as h

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
CHANNELS = """for (var r = 0u; r < 24u; r++) { for (var s = 0u; s < 2u; s++) {
    tile[r * 32u + s * 16u + t] = x[r / 6u * 4096u + (w.y + r % 6u) * 512u + w.x * 32u + s * 16u + t];
} }"""
NUMBERED = """for (var s = 0u; s < 48u; s++) {
    let i = s * 16u + t;
    tile[i] = x[(i / 32u / 6u * 8u + w.y + i / 32u % 6u) * 512u + w.x * 32u + (i & 31u)];
}"""
SHIFTED = NUMBERED.replace("i / 32u", "(i >> 5u)")
ONE_ROW = """for (var s = 0u; s < 60u; s++) { tile[s * 16u + t] = x[w.x * 512u + s * 16u + t]; }"""
ALONG = """for (var k = 0u; k < TURNS; k++) {
    var sum = f32(n);
    for (var j = 0u; j < 20u; j++) { for (var r = 0u; r < 6u; r++) { sum = sum * 0.5 + tile[r * 160u + k + j + t]; } }
    found[(w.y * 3u + w.x) * 128u + (k * 16u + t) % 128u] = sum;
}"""
INSIDE = """for (var g = 0u; g < 2u; g++) { for (var k = 0u; k < 8u; k++) {
    var sum = f32(n);
    for (var j = 0u; j < 40u; j++) { for (var r = 0u; r < 6u; r++) { sum = sum * 0.5 + tile[r * 32u + k + t + g]; } }
    found[(w.y * 3u + w.x) * 128u + (k * 16u + t) % 128u] = sum + f32(g);
} }"""
CASES = {
    "a line of each row in each turn": (COPY, ALONG.replace("TURNS", "8u"), 6),
    "several lines": (COPY, ALONG.replace("TURNS", "4u"), 12),
    "lines of half of the rows": (COPY, ALONG.replace("TURNS", "17u"), 3),
    "two tiles": (
        COPY.replace("= x[", "= x[2048u + w.x * 128u + r * 208u + s * 16u + t] + x["),
        ALONG.replace("TURNS", "8u"),
        12,
    ),
    "no time for a second tile": (
        COPY.replace("= x[", "= x[2048u + w.x * 128u + r * 208u + s * 16u + t] + x["),
        ALONG.replace("TURNS", "8u").replace("j < 20u", "j < 1u").replace("r < 6u", "r < 3u"),
        6,
    ),
    "two loops that compute": (
        COPY,
        ALONG.replace("TURNS", "8u") + "\nworkgroupBarrier();\n" + ALONG.replace("TURNS", "8u"),
        6,
    ),
    "rows that begin within a line": (COPY.replace("+ s * 16u", "+ 13u + s * 16u"), ALONG.replace("TURNS", "8u"), 9),
    "rows that begin anywhere in a line": (COPY.replace("512u", "509u"), ALONG.replace("TURNS", "8u"), 9),
    "one long row": (ONE_ROW, ALONG.replace("TURNS", "8u"), 4),
    "rows of channels": (CHANNELS, ALONG.replace("TURNS", "8u"), 6),
    "rows of channels, not as many in each as a turn has": (CHANNELS, ALONG.replace("TURNS", "5u"), 10),
    "rows of channels, by the numbers of elements": (NUMBERED, ALONG.replace("TURNS", "8u"), 6),
    "the same by shifts": (SHIFTED, ALONG.replace("TURNS", "8u"), 6),
    "rows of channels, by the turns of an inner loop": (CHANNELS, INSIDE, 3),
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
@pytest.mark.parametrize("cpu_target", ["x86-64-v3", "x86-64-v4"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
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


@pytest.mark.parametrize(
    ("rows", "lines", "turns", "expected"),
    [
        (6, 8, 8, (6, 1, 8)),
        (6, 8, 4, (6, 2, 4)),
        (6, 8, 17, (3, 1, 8)),
        (12, 9, 8, (3, 5, 2)),
        (1, 30, 8, (1, 4, 8)),
        (20, 1, 4, (5, 1, 1)),
        (3, 2, 64, (1, 1, 2)),
    ],
)
def test_turns_share_the_lines(rows: int, lines: int, turns: int, expected: tuple[int, int, int]) -> None:
    """Lines of rows, lines beside each other, and turns for a row: no share is less that reaches all lines."""
    storage, nowhere = cast("Storage", None), cast("h.Node", None)
    tile = NextTile(storage, nowhere, Form(), 64, 0, is_in_loop=False, rows=(Rows(rows, 4096),), lines=lines)
    assert tile.share(turns) == expected


def values_behind(text: str, name: str) -> set[str]:
    """The instructions that a value is computed with, from what is carried around loops on."""
    made = dict(re.findall(r"^  (%\S+) = (.*)$", text, re.MULTILINE))
    found, left = set[str](), [name]
    while left:
        instruction = made.get(left.pop(), "")
        if instruction and instruction not in found:
            found.add(instruction)
            left += [] if instruction.startswith("phi") else re.findall(r"%[\w.]+", instruction)
    return found


@pytest.mark.parametrize("is_in_loop", [False, True])
def test_the_next_copy_is_that_of_the_next_workgroup_or_turn(is_in_loop: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of a row of workgroups the next one is the first one of the next row."""
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    copy, compute = COPY, ALONG.replace("TURNS", "8u")
    if is_in_loop:
        copy = "for (var k = 0u; k < 4u; k++) { workgroupBarrier();" + COPY.replace("w.x * 128u", "k * 128u")
        compute += "}"
    kernel = tinct.load(KERNEL.replace("COPY", copy).replace("COMPUTE", compute))["main"]
    text = kernel.shader.compilation("main", {}).cpu.llvm(optimised=False)
    prefetched = re.findall(r"call void @llvm.prefetch\S*\(ptr (%\S+),", text)
    assert prefetched
    for name in prefetched:
        computed = values_behind(text, name)
        is_next = any(it.startswith("select i1") and ", i64 0, i64" in it for it in computed)
        assert is_next is not is_in_loop
