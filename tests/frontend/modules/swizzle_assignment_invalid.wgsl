// Components that cannot be assigned together.
const c = vec4f();
@group(0) @binding(0) var<storage> input: vec4f;
fn four() -> vec4f { return vec4f(); }
fn of_values() {
  let l = vec4f();
  c.xyz = vec3f();  // error: invalid-assignment
  l.xy = vec2f();  // error: invalid-assignment
  vec4f().xyz = vec3f();  // error: invalid-assignment
  four().xy = vec2f();  // error: invalid-assignment
}
fn of_memory(p: ptr<function, vec2f>) {
  var v: vec4f;
  v.xx = vec2f();  // error: invalid-assignment
  v.xxyy.zxy.yz = vec2f();  // error: invalid-assignment
  v.xyx += vec3f();  // error: invalid-assignment
  v.xy = vec3f();  // error: type-mismatch
  v.xy = vec2i();  // error: type-mismatch
  v.xy = 1;  // error: type-mismatch
  v.xy += 1u;  // error: no-matching-operator
  v.xy *= mat2x3f();  // error: no-matching-operator
  v.xy++;  // error: type-mismatch
  v.xr = vec2f();  // error: invalid-swizzle
  v.zy.z = 1;  // error: invalid-swizzle
  v.xyz[3] = 1;  // error: index-out-of-bounds
  v.x[0] = 1;  // error: invalid-access
  p.xyz = vec3f();  // error: invalid-swizzle
  input.xy = vec2f();  // error: invalid-assignment
  input.xy += 1;  // error: invalid-assignment
  let a = &v.xy;  // error: invalid-address-of
}
