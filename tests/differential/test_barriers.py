"""Kernels whose barriers stand in every kind of control flow: the translation splits the lanes' fork at each."""

from __future__ import annotations

import numpy as np
import pytest

from .support import assert_agree, assert_order_free

HEAD = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage> data: array<u32>;
@group(0) @binding(2) var<uniform> n: u32;
var<workgroup> tile: array<u32, 8>;
"""

BODIES = {
    "value across, cheap": """
        let twice = i * 2u + 1u;
        tile[i] = data[i];
        workgroupBarrier();
        out[g] = tile[7u - i] + twice;""",
    "value across, collected": """
        let loaded = data[i] * 3u;
        tile[i] = loaded;
        workgroupBarrier();
        out[g] = tile[(i + 1u) % 8u] + loaded;""",
    "variable across": """
        var v = data[i];
        if (v > 50u) { v += 7u; }
        tile[i] = v;
        workgroupBarrier();
        v += tile[(i + 3u) % 8u];
        workgroupBarrier();
        out[g] = v;""",
    "loop with a per-lane accumulator": """
        var sum = 0u;
        for (var t = 0u; t < n; t++) {
            tile[i] = data[(i + t) % 8u];
            workgroupBarrier();
            for (var k = 0u; k < 8u; k++) { sum += tile[k] * (k + i); }
            workgroupBarrier();
        }
        out[g] = sum;""",
    "loop that never runs": """
        var sum = i;
        for (var t = 0u; t < n - n; t++) { tile[i] = t; workgroupBarrier(); sum += tile[0]; workgroupBarrier(); }
        out[g] = sum;""",
    "two loop variables, one of them per lane": """
        var a = 1u;
        var b = i;
        for (var s = 4u; s > 0u; s /= 2u) {
            tile[i] = a + b;
            workgroupBarrier();
            b += tile[i ^ s];
            a += 1u;
            workgroupBarrier();
        }
        out[g] = a * 100u + b;""",
    "swap of loop variables": """
        var a = i; var b = 10u;
        for (var t = 0u; t < 3u; t++) {
            let c = a; a = b; b = c + t;
            tile[i] = a;
            workgroupBarrier();
            out[g] += tile[7u - i] + b;
            workgroupBarrier();
        }""",
    "uniform break": """
        var sum = 0u;
        for (var t = 0u; ; t++) {
            if (t >= n) { break; }
            tile[i] = data[i] + t;
            workgroupBarrier();
            sum += tile[7u - i];
            workgroupBarrier();
        }
        out[g] = sum;""",
    "uniform continue after a barrier": """
        for (var t = 0u; t < n; t++) {
            tile[i] = t * 10u + i;
            workgroupBarrier();
            let v = tile[7u - i];
            workgroupBarrier();
            if (t % 2u == 1u) { continue; }
            out[g] += v + 1u;
        }""",
    "return after the last barrier": """
        tile[i] = data[i];
        workgroupBarrier();
        if (i > 4u) { return; }
        out[g] = tile[i + 1u];
        if (i == 0u) { out[g] += 100u; return; }
        out[g] += 1u;""",
    "barrier in a uniform if": """
        tile[i] = i;
        if (n > 2u) { workgroupBarrier(); out[g] = tile[7u - i]; } else { out[g] = 77u; }
        out[g] += 1u;""",
    "barrier in the other arm": """
        var v = i;
        if (n > 200u) { v = 5u; } else { tile[i] = data[i]; workgroupBarrier(); v = tile[7u - i]; }
        out[g] = v;""",
    "switch around barriers": """
        var v = 1u;
        switch n {
            case 1u: { tile[i] = 3u; workgroupBarrier(); v = tile[7u - i]; }
            case 3u, 4u: { tile[i] = data[i]; workgroupBarrier(); v = tile[7u - i] + i; }
            default: { v = i; }
        }
        out[g] = v;""",
    "condition loaded from workgroup memory": """
        if (i == 0u) { tile[0] = n; }
        let m = workgroupUniformLoad(&tile[0]);
        var v = 0u;
        for (var t = 0u; t < m; t++) { tile[i] = i + t; workgroupBarrier(); v += tile[7u - i]; workgroupBarrier(); }
        out[g] = v;""",
    "workgroupUniformLoad at a computed index": """
        tile[i] = data[i];
        workgroupBarrier();
        out[g] = workgroupUniformLoad(&tile[n + 1u]) + i;""",
    "array that lives across": """
        var a: array<u32, 12>;
        for (var k = 0u; k < 12u; k++) { a[k] = i * k; }
        tile[i] = a[i];
        workgroupBarrier();
        a[3] += tile[7u - i];
        out[g] = a[3] + a[i + 1u] + a[11];""",
    "short array and vector that live across": """
        var a = array<u32, 4>(i, 2u, 3u, 4u);
        var v = vec3u(i, n, 5u);
        a[i % 4u] += 10u;
        tile[i] = a[0];
        workgroupBarrier();
        a[n % 4u] += tile[7u - i];
        v.y += a[3];
        out[g] = a[0] + a[3] * 100u + v.x + v.y + v.z;""",
    "private variable": """
        secret = i + 1u;
        stash[i + 1u] = 5u;
        tile[i] = next();
        workgroupBarrier();
        stash[2] += tile[7u - i];
        out[g] = next() + tile[7u - i] + stash[2] + stash[i + 1u];""",
    "barrier in a function": """
        out[g] = exchange(i, data[i]) + exchange(i, 3u * i);""",
    "barrier in a function that returns early": """
        out[g] = maybe(i, n) + maybe(i, 100u);""",
    "barriers in nested loops": """
        var v = i;
        for (var s = 1u; s <= 2u; s++) {
            for (var t = 0u; t < s + 1u; t++) {
                tile[i] = v;
                workgroupBarrier();
                v += tile[(i + t) % 8u] & 15u;
                workgroupBarrier();
            }
            v += s;
        }
        out[g] = v;""",
    "loop with continuing and break if": """
        var v = 0u; var t = 0u;
        loop {
            tile[i] = t + i;
            workgroupBarrier();
            v += tile[7u - i];
            continuing { workgroupBarrier(); t++; break if t >= n; }
        }
        out[g] = v;""",
    "atomics in workgroup memory": """
        atomicAdd(&counts[data[i] % 4u], i + 1u);
        workgroupBarrier();
        if (i < 4u) { out[g] = atomicLoad(&counts[i]); }
        workgroupBarrier();
        atomicMax(&counts[0], data[i]);
        workgroupBarrier();
        if (i == 7u) { out[g] = atomicLoad(&counts[0]); }""",
    "variables made after a return that depends on two things": """
        if (n == 200u || data[0] == 300u) { return; }
        var v = i * 3u;
        var a = array<u32, 12>();
        a[i] = v;
        tile[i] = v;
        workgroupBarrier();
        out[g] = tile[7u - i] + v + a[i];""",
    "values made after a return that a function decides": """
        if (odd(n + 1u)) { return; }
        let v = climb(i);
        tile[i] = v;
        workgroupBarrier();
        out[g] = tile[7u - i] + v;""",
    "values made between ways out of a loop": """
        var v = 0u;
        for (var t = 0u; t < 4u; t++) {
            let a = climb(i + t);
            if ((n == 3u && t == 3u) || odd(t + 200u)) { out[g] = 9u; break; }
            let b = climb(a);
            if (odd(n + t + 1u)) { continue; }
            let c = select(b, climb(3u), i == 2u);
            tile[i] = a;
            workgroupBarrier();
            v += tile[7u - i] * a + b + c;
            workgroupBarrier();
        }
        out[g] += v;""",
    "nothing but barriers": """
        workgroupBarrier();
        storageBarrier();
        workgroupBarrier();
        out[g] = i;""",
}

TAIL = """
var<private> secret: u32;
var<private> stash: array<u32, 16>;
var<workgroup> counts: array<atomic<u32>, 4>;
fn next() -> u32 { secret = secret * 5u + 1u; return secret; }
fn odd(a: u32) -> bool { if (a % 7u == 3u) { return true; } return (a & 1u) == 1u; }
fn climb(a: u32) -> u32 {
    var sum = a;
    for (var k = 0u; k < a % 5u; k++) { sum += data[k]; if (sum > 90u) { return sum; } }
    return sum + 1u;
}
fn exchange(i: u32, v: u32) -> u32 {
    workgroupBarrier();
    tile[i] = v;
    workgroupBarrier();
    return tile[7u - i];
}
fn maybe(i: u32, limit: u32) -> u32 {
    if (limit > 50u) { return limit; }
    tile[i] = limit + i;
    workgroupBarrier();
    return tile[7u - i];
}
"""


def kernel(body: str, size: str = "8") -> str:
    return f"""{HEAD}{TAIL}
@compute @workgroup_size({size})
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {{
    let g = w.x * 8u + i;
    _ = &out; _ = &data; _ = n;
{body}
}}
"""


def buffers() -> dict[str, np.ndarray]:
    data = np.random.default_rng(5).integers(0, 100, 8).astype(np.uint32)
    return {"out": np.zeros(24, np.uint32), "data": data, "n": np.uint32(3)}


@pytest.mark.parametrize("name", BODIES)
def test_tiers_agree(name: str) -> None:
    outputs = assert_agree(kernel(BODIES[name]), buffers(), 3)
    assert outputs["out"].any()


@pytest.mark.parametrize("name", BODIES)
def test_shape_of_the_workgroup_does_not_matter(name: str) -> None:
    flat = assert_agree(kernel(BODIES[name]), buffers(), 2)
    deep = assert_agree(kernel(BODIES[name], "2, 2, 2"), buffers(), 2)
    np.testing.assert_array_equal(flat["out"], deep["out"])


@pytest.mark.parametrize("name", BODIES)
def test_order_of_lanes_does_not_matter(name: str) -> None:
    given = {name: array.tobytes() for name, array in buffers().items()}
    assert_order_free(kernel(BODIES[name]), given, (2, 1, 1))


def test_a_workgroup_of_one() -> None:
    wgsl = kernel(
        "tile[0] = data[0]; workgroupBarrier(); var s = 0u; for (var t = 0u; t < n; t++) { s += tile[0]; "
        "workgroupBarrier(); tile[0] += t; } out[g] = s;",
        "1",
    )
    assert_agree(wgsl, buffers(), 3)


def test_reads_in_a_loop_come_before_an_atomic_of_the_same_memory() -> None:
    wgsl = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
struct Mixed { words: vec2u, count: atomic<i32> }
var<workgroup> mixed: Mixed;
@compute @workgroup_size(1)
fn main() {
    for (var k = 0u; k < 2u + n; k++) { if (mixed.words[k] != 0u) { out[0] = 1u; } }
    if (atomicLoad(&mixed.count) == 0) { out[1] = 2u; }
}
"""
    outputs = assert_agree(wgsl, {"out": np.zeros(2, np.uint32), "n": np.uint32(0)})
    assert outputs["out"].tolist() == [0, 2]
