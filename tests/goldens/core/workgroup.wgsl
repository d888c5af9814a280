var<workgroup> tile: array<f32, 64>;
var<workgroup> stop: u32;
@group(0) @binding(0) var<storage, read_write> data: array<f32>;

fn swap(i: u32) { let t = tile[i]; workgroupBarrier(); tile[63 - i] = t; }

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
  tile[i] = data[w.x * 64 + i];
  workgroupBarrier();
  for (var step = 32u; step > workgroupUniformLoad(&stop); step /= 2) {
    swap(i);
    storageBarrier();
  }
  data[w.x * 64 + i] = tile[i];
}
