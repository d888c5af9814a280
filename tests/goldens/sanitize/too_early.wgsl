// workgroups: 1
// data: 8
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
var<workgroup> sums: array<f32, 8>;

fn last() -> f32 { return sums[7]; }

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
  let before = last();
  workgroupBarrier();
  sums[i] = f32(i) + before;
  workgroupBarrier();
  data[i] = sums[i];
}
