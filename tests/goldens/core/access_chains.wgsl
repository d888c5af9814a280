struct Inner { values: array<vec4f, 3>, scale: mat2x3f }
struct Outer { inner: array<Inner, 2>, count: u32 }
@group(0) @binding(0) var<storage, read_write> data: array<Outer>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  data[id.x].inner[1].values[id.y].z = data[0].inner[id.z].scale[1].y;
  let whole = data[id.x].inner[0];
  data[0].count = u32(whole.values[id.x][id.y] + whole.scale[1][2]);
  (&data[1].inner)[0].values[2] = vec4f(1);
}
