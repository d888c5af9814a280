// Types, values and evaluation errors in expressions.
enable f16;
struct S { position: vec3f }
@group(0) @binding(0) var<storage> buffer: array<u32>;
@group(0) @binding(1) var<storage, read_write> counter: atomic<u32>;
fn callee(a: i32, b: f32) -> f32 { return b; }
@must_use fn needed() -> i32 { return 1; }
fn nothing() {}

const overflow = 9223372036854775807 + 1;  // error: evaluation-error
const division = 1 / 0;  // error: evaluation-error
const shift = 1u << 32u;  // error: evaluation-error
const big = 1e39f;  // error: value-out-of-range
const narrow: u32 = -1;  // error: value-out-of-range
const root = sqrt(-1.0);  // error: evaluation-error
const outside = array(1, 2)[2];  // error: index-out-of-bounds

fn operators(i: i32, u: u32, b: bool, v: vec3f) {
  _ = i + u;  // error: no-matching-operator
  _ = !i;  // error: no-matching-operator
  _ = -u;  // error: no-matching-operator
  _ = b && i;  // error: no-matching-operator
  _ = i << 32;  // error: evaluation-error
  _ = i / 0;  // error: evaluation-error
  _ = v * vec2f();  // error: no-matching-operator
}
fn accesses(v: vec3f, s: S, a: array<i32, 3>, i: i32) {
  _ = v.w;  // error: invalid-swizzle
  _ = v.xr;  // error: invalid-swizzle
  _ = s.positon;  // error: unknown-member
  _ = a[3];  // error: index-out-of-bounds
  _ = a[-1];  // error: index-out-of-bounds
  _ = a[1.0];  // error: type-mismatch
  _ = i[0];  // error: invalid-access
  _ = i.x;  // error: invalid-access
  _ = buffer[-1];  // error: index-out-of-bounds
}
fn calls(i: i32, f: f32) {
  _ = callee(1);  // error: wrong-argument-count
  _ = callee(f, f);  // error: type-mismatch
  _ = max(i, f);  // error: no-matching-overload
  _ = vec3f(1, 2);  // error: no-matching-overload
  _ = clamp(f, 2, 1);  // error: evaluation-error
  _ = main();  // error: invalid-call
  needed();  // error: unused-value
  max(i, i);  // error: unused-value
  vec2(1, 2);  // error: unused-value
  let v = nothing();  // error: expected-value
  _ = subgroupAdd(i);  // error: extension-required
  _ = i(1);  // error: not-callable
  _ = S(1);  // error: no-matching-overload
}
fn views(p: ptr<function, vec3f>, v: vec3f) {
  _ = &v;  // error: invalid-address-of
  _ = &p.x;  // error: invalid-address-of
  _ = *v;  // error: invalid-indirection
  let atomic_value = counter;  // error: invalid-load
  let whole_buffer = buffer;  // error: invalid-load
}
@compute @workgroup_size(1) fn main() {}
