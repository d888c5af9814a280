"""Tiles that are filled from rows of a picture: loaded in pieces in the interior, the same elements at the border."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.cpu.levels import available

import tinct
from tinct.backend.cpu import llvm
from tinct.backend.cpu.machine import MachineCosts, costs_so_far
from tinct.backend.cpu.target import compiling_for

HEAD = """
@group(0) @binding(0) var<uniform> size: vec2u;
@group(0) @binding(1) var<storage, read> picture: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
var<workgroup> tile: array<u32, 100>;
@compute @workgroup_size(8, 8) fn main(
    @builtin(workgroup_id) wid: vec3u, @builtin(local_invocation_index) t: u32, @builtin(global_invocation_id) id: vec3u
) {
  let corner = vec2i(wid.xy * 8u) - 1;
  let most = vec2i(size) - 1;
"""
TAIL = """
  workgroupBarrier();
  if id.x >= size.x || id.y >= size.y { return; }
  let at = (t / 8u) * 10u + t % 8u;
  out[id.y * size.x + id.x] = tile[at] + 3u * tile[at + 1u] + 7u * tile[at + 11u] + 13u * tile[at + 22u];
}
"""
FILLS = {
    "clamped": """for (var k = t; k < 100u; k += 64u) {
        let p = clamp(corner + vec2i(vec2u(k % 10u, k / 10u)), vec2i(0), most);
        tile[k] = picture[u32(p.y) * size.x + u32(p.x)]; }""",
    "min and max of signed numbers": """for (var k = i32(t); k < 100; k += 64) {
        let x = min(max(corner.x + k % 10, 0), most.x); let y = max(min(corner.y + k / 10, most.y), 0);
        tile[k] = picture[y * i32(size.x) + x]; }""",
    "guarded": """for (var k = t; k < 100u; k += 64u) {
        let p = corner + vec2i(vec2u(k % 10u, k / 10u));
        var v = 5u;
        if all(p >= vec2i(0)) && all(p <= most) { v = picture[u32(p.y) * size.x + u32(p.x)]; }
        tile[k] = v; }""",
    "selected": """for (var k = t; k < 100u; k += 64u) {
        let p = corner + vec2i(vec2u(k % 10u, k / 10u));
        let x = select(select(p.x, most.x, p.x > most.x), 0, p.x < 0);
        let y = select(select(p.y, most.y, p.y > most.y), 0, p.y < 0);
        tile[k] = picture[u32(y) * size.x + u32(x)]; }""",
    "twice as far apart": """for (var k = t; k < 100u; k += 64u) {
        let p = clamp(corner + vec2i(vec2u(k % 10u, 2u * (k / 10u))), vec2i(0), most);
        tile[k] = picture[u32(p.y) * size.x + u32(p.x)]; }""",
    "rows from the right": """for (var k = t; k < 100u; k += 64u) {
        let p = clamp(corner + vec2i(vec2u(9u - k % 10u, k / 10u)), vec2i(0), most);
        tile[k] = picture[u32(p.y) * size.x + u32(p.x)]; }""",
    "past the end": """for (var k = t; k < 100u; k += 64u) {
        let p = vec2u(corner + 1) + vec2u(k % 10u, k / 10u);
        tile[k] = picture[(p.y << 5u) + p.x]; }""",
}
SIZES = [(1, 1), (3, 40), (17, 9), (32, 32), (41, 35), (64, 24)]


def costs(gather: float) -> MachineCosts:
    """Those of this machine, but for a gather and a masked store, in nanoseconds."""
    return replace(costs_so_far(), access=replace(costs_so_far().access, gather=gather, masked_store=0.5))


@pytest.fixture
def pieces_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """On all machines."""
    changed = costs(4.0)
    monkeypatch.setattr(llvm, "costs_so_far", lambda: changed)


def has_pieces(name: str) -> bool:
    """Whether a piece is loaded into the one before."""
    with compiling_for("x86-64-v4"):
        text = tinct.load(HEAD + FILLS[name] + TAIL).compilation("main", {}).cpu.llvm(optimised=False)
    return re.search(r"masked\.load\.v16i32.* <16 x i32> %", text) is not None


@pytest.mark.usefixtures("pieces_pay")
@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", FILLS)
def test_the_elements_are_the_same(name: str, target: str) -> None:
    kernel = tinct.load(HEAD + FILLS[name] + TAIL)["main"]
    with compiling_for(target):
        for width, height in SIZES:
            picture = np.random.default_rng(width).integers(0, 1 << 20, width * height, np.uint32)
            buffers = {"size": [width, height], "picture": picture, "out": np.zeros_like(picture)}
            grid = (-(-width // 8), -(-height // 8), 1)
            found, expected = (
                kernel.run(buffers, workgroups=grid, device=device)["out"] for device in ("cpu", "interp")
            )
            np.testing.assert_array_equal(found, expected, err_msg=f"{width} by {height}")


@pytest.mark.usefixtures("pieces_pay")
@pytest.mark.parametrize("name", [it for it in FILLS if it != "rows from the right"])
def test_rows_are_loaded_in_pieces(name: str) -> None:
    assert has_pieces(name)


def test_cheap_gathers_need_no_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = costs(0.5)
    monkeypatch.setattr(llvm, "costs_so_far", lambda: changed)
    assert not has_pieces("clamped")


IN_TWO_BRANCHES = """
@group(0) @binding(0) var<storage, read> x: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
var<workgroup> highest: array<i32, 16>;
var<workgroup> lowest: array<i32, 16>;
@compute @workgroup_size(16)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(local_invocation_id) id: vec3u) {
    let lane = id.x;
    var high = -999;
    var low = 999;
    for (var t = 0u; t < 1u; t++) {
        if (t < 0u) & (i32(t * 16u + 16u) < 6) {
            for (var k = 0u; k < 1u; k++) { high = max(high, x[wid.x * 6u + (t * 16u + lane + 1u)] + i32(k)); }
        } else {
            for (var k = 0u; k < 1u; k++) {
                let value = x[wid.x * 6u + min(t * 16u + lane + 1u, 5u)] + i32(k);
                high = max(high, value);
                low = min(low, value);
            }
        }
    }
    highest[lane] = high;
    lowest[lane] = low;
    workgroupBarrier();
    if lane < 2u {
        let above = max(highest[lane], highest[lane + 2u]);
        let below = min(lowest[lane], lowest[lane + 2u]);
        highest[lane] = above;
        lowest[lane] = below;
    }
    workgroupBarrier();
    if lane < 1u { highest[lane] = max(highest[lane], highest[lane + 1u]); }
    workgroupBarrier();
    out[wid.x] = highest[0] - lowest[0];
}
"""


@pytest.mark.parametrize("level", available())
def test_positions_of_one_branch_are_no_values_of_another(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What both branches compute alike is written before them, and what that is computed from is not known after."""
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    main = tinct.load(IN_TWO_BRANCHES)["main"]
    buffers = {"x": np.random.default_rng(2).integers(-99, 99, 24, np.int32), "out": np.zeros(4, np.int32)}
    expected = main.run(buffers, workgroups=4, device="interp")["out"]
    np.testing.assert_array_equal(main.run(buffers, workgroups=4, device="cpu")["out"], expected)
