@group(0) @binding(0) var<storage, read_write> v: vec4f;

@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
  v = v.wzyx;
  v.r = v.xyz.gb.y;
  v[i] = v[3 - i];
  let w = vec4f(v.xy, v.x, 1).zw;
  v.y = w[i];
}
