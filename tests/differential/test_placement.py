"""Kernels in which it is hard to see where a write or an atomic operation belongs: the graph does not say."""

from __future__ import annotations

import numpy as np
import pytest

from .support import assert_agree

HEAD = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage> data: array<u32>;
@group(0) @binding(2) var<uniform> n: u32;
var<workgroup> counts: array<atomic<u32>, 4>;
var<workgroup> tile: array<u32, 1>;
@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    var v = n;
"""

BODIES = {
    "the next atomic may not run above a loop, and yet is not in it": """
    for (var k = 0u; k < 3u; k++) {
        let x = atomicLoad(&counts[v % 4u]);
        for (var j = 0u; j < n; j++) { v = v * data[x] + 1u; }
        let y = atomicLoad(&counts[v % 4u]);
    }
    out[0] = v;""",
    "a read whose user is in a branch before a loop": """
    var p = n;
    for (var k = 0u; k < n; k++) {
        tile[i] = p;
        let x = tile[0];
        if (k > 1u) { v *= data[k] - x; }
        for (var j = 0u; j < data[k] % 6u; j++) { p = j & p; }
        tile[i] = p;
    }
    out[0] = v ^ p;""",
    "of two writes to the zeros of workgroup memory, one has operands that are known everywhere": """
    if data[n] % 3u == 1u {
        tile[i] = i;
        v = tile[i];
    } else {
        tile[i] = data[n];
        v += extractBits(data[n], tile[i], 7u);
    }
    out[0] = v;""",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize("n", [0, 3])
def test_tiers_agree(body: str, n: int) -> None:
    buffers = {
        "out": np.zeros(1, np.uint32),
        "data": np.array([7, 3, 11, 5], np.uint32),
        "n": np.full((), n, np.uint32),
    }
    assert_agree(f"{HEAD}{body}\n}}", buffers)


@pytest.mark.parametrize("n", [0, 2, 3])
def test_a_write_before_a_loop_with_a_way_out(n: int) -> None:
    """Of the two that take the version over, one is behind the loop, and one on the way out: none is in it."""
    wgsl = """
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage> data: array<u32>;
        @group(0) @binding(2) var<uniform> n: u32;
        var<workgroup> tile: array<u32, 8>;
        @compute @workgroup_size(2, 2, 2)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
            var local = array<u32, 10>();
            tile[i] = data[i];
            workgroupBarrier();
            let x = tile[7u - i];
            workgroupBarrier();
            for (var k = 0u; k < w.x + 2u; k++) {
                local[data[i] % 10u] = x + 1u;
                for (var m = 0u; m < w.x + 1u; m++) {
                    if ((n + 1u) % 4u > 2u && (n + 1u) % 4u > 0u) && n != 0u { out[i] = data[x % 8u]; return; }
                }
                for (var j = 0u; j < (k + 1u) % 4u; j++) { if (j + 1u) % 4u > 3u { } }
            }
            out[i] = local[3] ^ local[i];
        }"""
    buffers = {"out": np.zeros(8, np.uint32), "data": np.arange(8, dtype=np.uint32) * 5, "n": np.full((), n, np.uint32)}
    assert_agree(wgsl, buffers)
