"""Shaders that the tests look into."""

from __future__ import annotations

import tinct

MIXED = """
struct P { pos: vec3f, n: atomic<u32> }
@group(0) @binding(0) var<storage, read_write> out: array<P>;
var<workgroup> tile: array<atomic<u32>, 4>;
var<workgroup> plain: array<u32, 8>;
var<private> calls: u32;
fn more(p: ptr<function, f32>) -> f32 {
  calls += 1u;
  *p += 1;
  return *p * 2;
}
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) l: u32) {
  const C = 3;
  let k = 4u;
  let old = atomicAdd(&tile[l % 4], 2u);
  plain[l] = l;
  workgroupBarrier();
  var a = 1.5;
  let twice = more(&a);
  for (var i = 0u; i < 5; i++) {
    a += f32(plain[(l + i) % 8]);
  }
  {
    let a = 7i;
    if a > 5 && l == 5 { calls += u32(a); } else if a > 6 { calls = 0u; }
  }
  let p = &out[id.x].pos;
  (*p).x = a;
  switch l % 3 { case 0, 1: { calls++; } default: { } }
  out[0].pos.y = f32(calls);
}
"""
"""Loops, calls, pointers, atomics, a barrier, memory of all kinds, and a name that is declared twice."""

COLLATZ = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  var n = id.x + 6u;
  var steps = 0u;
  while n != 1u {
    n = select(n / 2u, 3u * n + 1u, n % 2u == 1u);
    steps++;
  }
  out[id.x] = steps;
}
"""


def kernel(text: str) -> tinct.Kernel:
    """The only entry point of a shader."""
    return tinct.load(text).kernel()
