"""Loops whose turns are known of each thread, though each has a counter of its own: the interpreter's answers, and code
without masks.
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
        for it in (fill, fill.replace("256u", "300u"), fill.replace("256u", "n * 25u"))
    ]
    assert [code[: code.rindex("declare")].count("@llvm.masked.store") > 0 for code in codes] == [False, False, True]


SELDOM = """
    var sum = n;
    var last = 0u;
    for (var i = FIRST) {
        if i % 5u == 0u { sum ^= i + n; } else { last = i; }
        sum = sum * 3u + order[i % 64u];
    }
    words[t] = sum + last * 7u;
"""


@pytest.mark.parametrize(
    "first",
    [
        pytest.param("t; i < 34u; i += 32u", id="in the first turn only"),
        pytest.param("t % 3u + 1u; i < 131u; i += 128u", id="in the second turn only"),
    ],
)
def test_branches_that_threads_take_in_one_turn(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A multiple of five, which some threads have in one turn, and none of those that are left in the other one."""
    text = KERNEL.replace("LOOPS", SELDOM.replace("FIRST", first))
    expected = answer(text, "interp")
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        np.testing.assert_array_equal(answer(text, "cpu"), expected, err_msg=level)


TILE = """
@group(0) @binding(0) var<storage> image: array<u32>;
@group(0) @binding(1) var<uniform> size: vec2i;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;
var<workgroup> tile: array<array<u32, 18>, 10>;
fn fill(x: i32, y: i32, group: vec3u) {
    let place = clamp(vec2i(group.xy) * vec2i(16, 8) + vec2i(x, y) - 1, vec2i(0), size - 1);
    tile[y][x] = image[place.y * size.x + place.x];
}
@compute @workgroup_size(16, 8) fn main(
    @builtin(local_invocation_index) t: u32,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(workgroup_id) group: vec3u,
    @builtin(global_invocation_id) id: vec3u,
) {
FILL
    workgroupBarrier();
    if any(vec2i(id.xy) >= size) { return; }
    var sum = 0u;
    for (var y = 0u; y < 3u; y++) {
        for (var x = 0u; x < 3u; x++) { sum = sum * 3u + tile[local.y + y][local.x + x]; }
    }
    sums[id.y * u32(size.x) + id.x] = sum;
}
"""
FILLS = {
    "flat": "for (var i = t; i < 180u; i += 128u) { fill(i32(i % 18u), i32(i / 18u), group); }",
    "signed, backwards": "for (var i = i32(t) + 128; i >= 0; i -= 128) { if i < 180 { fill(i % 18, i / 18, group); } }",
    "counted": """for (var turn = 0u; turn < 2u; turn++) {
        let i = t + turn * 128u;
        if i < 180u { fill(i32(i % 18u), i32(i / 18u), group); }
    }""",
    "left inside": "var i = t; loop { fill(i32(i % 18u), i32(i / 18u), group); i += 128u; if i >= 180u { break; } }",
    "rows and columns": """for (var y = local.y; y < 10u; y += 8u) {
        for (var x = local.x; x < 18u; x += 16u) { fill(i32(x), i32(y), group); }
    }""",
    "some columns": """for (var y = local.y; y < 10u; y += 8u) {
        for (var x = local.x; x < 18u; x += 16u) { if x % 5u != 2u || y < 9u { fill(i32(x), i32(y), group); } }
    }
    workgroupBarrier();
    if local.y == 0u { for (var x = local.x; x < 18u; x += 16u) { if x % 5u == 2u { fill(i32(x), 9, group); } } }""",
}


@pytest.mark.parametrize("name", FILLS)
def test_tiles_with_halos(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some threads take one turn, others two or more."""
    width, height = 37, 21
    buffers = {
        "image": np.random.default_rng(6).integers(0, 1 << 32, width * height, np.uint32),
        "size": np.array([width, height], np.int32),
        "sums": np.zeros(width * height, np.uint32),
    }
    kernel = tinct.load(TILE.replace("FILL", FILLS[name]))["main"]
    expected = kernel.run(dict(buffers), workgroups=(3, 3), device="interp")["sums"]
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        found = kernel.run(dict(buffers), workgroups=(3, 3), device="cpu")["sums"]
        np.testing.assert_array_equal(found, expected, err_msg=level)


@pytest.mark.parametrize("name", ["flat", "rows and columns"])
def test_tiles_are_filled_by_whole_vectors(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TARGET", "x86-64-v4")
    fills = FILLS[name], "tile[local.y][local.x] = image[t];"
    codes = [tinct.load(TILE.replace("FILL", it)).compilation("main", {}).cpu.llvm() for it in fills]
    filled, plain = (it.count("call void @llvm.masked.scatter") for it in codes)
    assert filled == plain


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
