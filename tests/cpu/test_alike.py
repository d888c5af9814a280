"""Loops that all threads of a workgroup leave together, though each has a counter of its own: the interpreter's
answers, and code without masks.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.cpu.test_windows import answer, available

import tinct

KERNEL = """
@group(0) @binding(0) var<storage> order: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;
var<workgroup> words: array<u32, 300>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) t: u32) {
LOOPS
    workgroupBarrier();
    found[t] = words[t] + words[t + 64u] * 3u + words[t + 128u] * 5u + words[(t + 192u) % 300u] * 7u;
}
"""
TOGETHER = """
    for (var i = t; i < 256u; i += 64u) { words[i] = order[i % 64u] * i; }
    workgroupBarrier();
    for (var i = i32(t) + 64; i >= 0; i -= 64) { words[i] ^= n; }
    workgroupBarrier();
    var left = 3u * t + 3u;
    loop {
        if left <= 3u * t { break; }
        left--;
        words[left] += left;
    }
"""
APART = """
    workgroupBarrier();
    for (var i = t; i < 300u; i += 64u) { words[i] += order[i % 64u] ^ i; }
    workgroupBarrier();
    for (var i = t; i < n * 9u; i += 64u) { words[i] *= 3u; }
    workgroupBarrier();
    for (var i = t; i < 200u; i += 63u) { if i % 63u == t { words[i] += 1u; } }
    workgroupBarrier();
    for (var i = t; i != 0u && i < 128u; i += 64u) { words[i] += 2u; }
"""


def test_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    text = KERNEL.replace("LOOPS", TOGETHER + APART)
    expected = answer(text, "interp")
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        np.testing.assert_array_equal(answer(text, "cpu"), expected, err_msg=level)


def test_code_has_no_masks() -> None:
    fill = "    for (var i = t; i < 256u; i += 64u) { words[i] = i ^ n; }"
    codes = [
        tinct.load(KERNEL.replace("LOOPS", it)).compilation("main", {}).cpu.llvm()
        for it in (fill, fill.replace("256u", "250u"))
    ]
    assert [code[: code.rindex("declare")].count("@llvm.masked.store") > 0 for code in codes] == [False, True]


FLAT = """
@group(0) @binding(0) var<storage> order: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;
var<workgroup> words: array<u32, 256>;
@compute @workgroup_size(WIDTH, HEIGHT)
fn main(@builtin(local_invocation_index) index: u32, @builtin(local_invocation_id) id: vec3u) {
    let t = NUMBER;
    for (var i = t; i < 256u; i += 64u) { words[i] = order[i % 64u] + i * n; }
    workgroupBarrier();
    found[t] = words[t] + words[t + 64u] * 3u + words[t + 128u] * 5u + words[255u - t] * 7u;
}
"""
NUMBERS = {
    "index": "index",
    "rows": "id.y * WIDTHu + id.x",
    "shifted": "(id.y << SHIFTu) | id.x",
    "taken apart": "(index / 8u) * 8u + index % 8u",
    "backwards": "63u - index",
    "columns": "id.x * HEIGHTu + id.y",
}


def flat(number: str, width: int) -> str:
    text = FLAT.replace("NUMBER", NUMBERS[number])
    return (
        text.replace("SHIFT", str(width.bit_length() - 1))
        .replace("WIDTH", str(width))
        .replace("HEIGHT", str(64 // width))
    )


@pytest.mark.parametrize("width", [4, 8, 16, 32])
@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_through_all_rows(number: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = flat(number, width)
    expected = answer(text, "interp")
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        np.testing.assert_array_equal(answer(text, "cpu"), expected, err_msg=level)


@pytest.mark.parametrize("number", ["index", "rows", "shifted", "taken apart"])
def test_numbers_are_found_by_their_values(number: str) -> None:
    code = tinct.load(flat(number, 16)).compilation("main", {}).cpu.llvm()
    assert "@llvm.masked.store" not in code[: code.rindex("declare")]
