// Several components of a vector in memory are assigned at once.
requires swizzle_assignment;
struct S { a: vec3f, b: array<vec4i, 2> }
@group(0) @binding(0) var<storage, read_write> stored: S;
var<private> kept: vec4u;
var<workgroup> shared_: array<vec2f, 4>;
fn through(p: ptr<function, vec4f>, q: ptr<function, S>, i: u32) {
  p.xy = vec2f(1, 2);
  (*p).wz = p.xy;
  (p.zyx).rg *= 2;
  p.xyz += vec3(1);
  p.xxyy.zxy.xy = vec2f();
  p.xyy.x = 1;
  q.a.zx = vec2(1);
  q.b[i].yw %= vec2(3);
}
@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
  var v: vec4f;
  var s: S;
  through(&v, &s, i);
  v.zyx[i] = 1;
  v.xx[1] -= 1;
  v.xyzw = v.wzyx;
  var m: mat2x3f;
  m[1].zx = v.xy;
  m[i].rg *= mat2x2f();
  stored.a.yz = vec2f();
  stored.b[i].xw <<= vec2(1u);
  kept.yx |= kept.xy;
  kept.zw[1]++;
  shared_[i].yx = v.zw;
  var flags: vec3<bool>;
  flags.xz = vec2(true, false);
}
