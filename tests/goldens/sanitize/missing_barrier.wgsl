// workgroups: 2
// data: 16
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> tile: array<u32, 8>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3u) {
  tile[i] = data[id.x];
  data[id.x] = tile[7 - i];
}
