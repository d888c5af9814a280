enable f16;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = i32(id.x);
  let h = f16(i);
  let v = vec3<f16>(h, vec2h(h));
  let m = mat3x2f(vec2f(f32(h)), vec2f(v.xy), vec2f(1, f32(i)));
  let s = frexp(m[i].y);
  let b = bitcast<vec2<u32>>(m[0]);
  out[0] = f32(bool(s.exp)) + dot(m * vec3f(v), vec2f(b)) - -f32(~i);
  out[1] = select(s.fract, modf(f32(i)).whole, !(i < 3));
  out[2] = (m * transpose(m) * m)[1].y * (2.0 * vec3f(v) / f32(i)).z;
  out[3] = f32((u32(i) << 3u) | ((7u ^ id.y) % 5));
}
