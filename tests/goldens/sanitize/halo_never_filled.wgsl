// workgroups: 1
// data: 8
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
var<workgroup> tile: array<array<f32, 10>, 1>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
  tile[0][i + 1] = data[i];
  workgroupBarrier();
  data[i] = tile[0][i] + tile[0][i + 2];
}
