// workgroups: 2
// data: 1
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
  if i == 0 { data[0] = w.x; }
  storageBarrier();
  if i == 1 { data[0] = w.x + 7; }
}
