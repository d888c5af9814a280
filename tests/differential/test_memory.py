"""Variables of every kind, indexed every way, on every tier: trees, collections, copies, and what is out of bounds."""

from __future__ import annotations

import numpy as np
import pytest

from .support import assert_agree

HEAD = """
struct Inner { a: vec3f, b: array<u32, 3> }
struct Outer { x: u32, inner: array<Inner, 12>, m: mat3x2f, tail: array<vec2u, 10> }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage> data: array<i32>;
@group(0) @binding(2) var<storage, read_write> things: array<Outer, 2>;
@group(0) @binding(3) var<storage> few: array<u32>;
var<private> p: array<u32, 20>;
const table = array<u32, 11>(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5);
fn bump(q: ptr<function, u32>, by: u32) -> u32 { *q += by; return *q; }
fn fill(q: ptr<function, array<u32, 12>>, v: u32) { for (var k = 0u; k < 12u; k++) { (*q)[k] = v + k; } }
fn made(v: u32) -> array<u32, 12> { var r: array<u32, 12>; r[v % 12u] = v; return r; }
fn early(v: u32) -> u32 { for (var k = 0u; k < 9u; k++) { if (k * k >= v) { return k; } } return 99u; }
fn sum(a: array<u32, 12>) -> u32 { var s = 0u; for (var k = 0u; k < 12u; k++) { s += a[k]; } return s; }
"""

BODIES = {
    "long array": "var a: array<u32, 12>; a[i] = 5u; a[i + 3u] += 2u; out[i] = a[i] + a[3] + a[11u - i];",
    "array made again in each iteration": """
        var t = 0u;
        for (var k = 0u; k < 4u; k++) {
            var b: array<u32, 10>; b[1] = 2; b[2] += b[k]; t += b[2] + b[i] + b[k]; b[k] = 9;
        }
        out[i] = t;""",
    "copy of an array": "var a = made(i); let b = a; a[i] = 77u; out[i] = a[i] * 100u + b[i];",
    "arrays by value": "var a: array<u32, 12>; fill(&a, i); let s = sum(a); a[0] = 50u; out[i] = s * 1000u + sum(a);",
    "pointers": """
        var v = vec2u(i, 3u); var w = i;
        out[i] = bump(&w, 5u) * 100u + w;
        let q = &v; (*q).y = 8u; out[i] += v.y;""",
    "constant table": "out[i] = table[i] * 10u + table[u32(data[i])];",
    "index out of bounds": """
        var a = array<u32, 12>(); a[11] = 7u; a[u32(data[i]) + 12u] = 40u + i;
        var s = array<u32, 4>(1, 2, 3, 4); s[data[i]] += 1u;
        var v = vec4u(5, 6, 7, 8);
        out[i] = a[11] * 10000u + s[data[i] - 1] * 100u + v[data[i] + i32(i)];
        out[data[i] * 1000] = 5u;
        things[data[i]].x = 3u;
        things[1u + i].tail[data[i]].y = i;""",
    "runtime array": "out[i] = few[i] + arrayLength(&few) * 10u + arrayLength(&out);",
    "structures in storage": """
        let t = &things[i % 2u];
        if (i < 2u) {
            (*t).inner[i + 4u].a.y = f32(i) + 0.5;
            (*t).inner[3].b[i] = 6u;
            (*t).m[i] = vec2f(1.0, f32(i));
            (*t).m[2][i] = 4.0;
        }
        out[i] = (*t).x;""",
    "whole structures": """
        if (i == 0u) {
            var t = things[0];
            t.inner[2].b[1] = 11u;
            t.m = t.m * 2.0;
            things[1] = t;
            var u: Outer;
            u.inner[7] = t.inner[2];
            u.tail[3] = vec2u(1u, 2u);
            things[0] = u;
        }""",
    "private array": "for (var k = 0u; k < 20u; k++) { p[k] += k * i; } p[i] = 1u; out[i] = p[i] + p[19];",
    "matrix indexed by a variable": """
        var m = mat3x2f(1, 2, 3, 4, 5, 6);
        m[i % 3u][i % 2u] = 9.0;
        let c = m[(i + 1u) % 3u];
        out[i] = u32(c.x * 10.0 + c[i % 2u]) + u32(transpose(m)[1][i % 3u]) * 1000u;""",
    "early returns": "out[i] = early(i * 7u) + early(100u) * 10u;",
    "switch with shared bodies": """
        var r = 0u;
        switch data[i] {
            case 0, 1: { r = 1u; }
            case -1: { r = 2u; if (i > 3u) { break; } r = 3u; }
            case 5, default: { r = 4u; }
        }
        out[i] = r;""",
    "loops with everything": """
        var r = 0u;
        var k = 0;
        loop {
            if (k == data[i]) { k += 2; continue; }
            for (var j = 0; j < k; j++) { if (j == 3) { break; } if (j == 1) { continue; } r += u32(j + k); }
            while (r > 1000u) { r /= 2u; if (r % 7u == 0u) { out[i] = 5u; return; } }
            continuing { k++; break if k > 9; }
        }
        out[i] = r;""",
    "short circuits": """
        var hits = 0u;
        let a = data[i] > 0 && bump(&hits, 1u) > 0u;
        let b = data[i] > 0 || bump(&hits, 10u) > 0u;
        out[i] = hits + select(0u, 100u, a) + select(0u, 200u, b);""",
}


def kernel(body: str) -> str:
    return f"""{HEAD}
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {{
    _ = &out; _ = &data; _ = &things; _ = &few;
{body}
}}
"""


@pytest.mark.parametrize("spare", [1, 3])
@pytest.mark.parametrize("name", BODIES)
def test_tiers_agree(name: str, spare: int) -> None:
    buffers = {
        "out": np.zeros(8, np.uint32),
        "data": np.array([0, 1, -1, 5, -1, 3, 2147483647, -2147483648], np.int32),
        "things": np.random.default_rng(3).integers(0, 255, 2 * 528).astype(np.uint8).tobytes(),
        "few": np.arange(spare, dtype=np.uint32) + 1,
    }
    assert_agree(kernel(BODIES[name]), buffers)


def test_the_fraction_of_a_whole_number_has_no_sign() -> None:
    body = "let parts = modf(-5.0 - f32(i)); out[i] = bitcast<u32>(parts.fract) + bitcast<u32>(parts.whole);"
    wgsl = f"""
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {{ {body} }}"""
    found = assert_agree(wgsl, {"out": np.zeros(4, np.uint32)})
    assert found["out"].tolist() == (-5 - np.arange(4, dtype=np.float32)).view(np.uint32).tolist()
