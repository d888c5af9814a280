"""Random WGSL with long runs of updates, which passes join to expressions that nest deep."""

from __future__ import annotations

import random

_UPDATES = (
    "a = a * 1.5 + o[{n}];",
    "a = {m}.5 - a;",
    "a = -a;",
    "a = min(abs(a), f32(k));",
    "a = mix(a, f(a), 0.5);",
    "a = o[k % 8u] + a / 3.0;",
    "k = k * {m}u + 1u;",
    "k = (k << 1u) ^ {m}u;",
    "k = ~k & 255u;",
    "k = u[k % 8u];",
    "k = (k | {n}u) - (k ^ {m}u);",
    "k = select(k, {n}u, b);",
    "b = !b;",
    "b = b && k > {n}u;",
    "b = k < {n}u || b;",
    "b = (k > {m}u && b) || a > 2.0;",
    "v = v * 2.0 + a;",
    "v = v.yzx;",
    "v = cross(v, vec3f(a, f32(k), {m}.0));",
    "v = vec3f(v.x, v[k % 3u], a);",
    "a += v.x;",
    "u[{n}] = k;",
    "o[{n}] = a;",
    "if b {{ a = a + {m}.0; k++; }}",
    "if k > {n}u {{ b = !b; v = v.zyx; }} else {{ a = a * 0.5; }}",
    "for (var i = 0u; i < {m}u; i++) {{ a = a * 0.5 + f32(i); k = k + i; }}",
)


def kernel(seed: int, count: int, *, kinds: int = 4) -> str:
    """`count` updates of a few kinds, so that runs of one kind are long."""
    numbers = random.Random(seed)
    chosen = numbers.sample(_UPDATES, kinds)
    updates = [numbers.choice(chosen).format(n=numbers.randrange(8), m=numbers.randrange(1, 8)) for _ in range(count)]
    return f"""@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@group(0) @binding(1) var<storage, read_write> u: array<u32>;
fn f(x: f32) -> f32 {{ return x * 0.25 + 1.0; }}
@compute @workgroup_size(1) fn main() {{
    var a = o[0]; var k = u[0]; var b = k > 3u; var v = vec3f(a, 1.0, o[1]);
    {" ".join(updates)}
    o[2] = a + v.x * v.y - v.z; u[2] = k + u32(b);
}}
"""
