// workgroups: 1
// data: 8
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
  data[i] = i;
  workgroupBarrier();
  let left = data[(i + 7) % 8];
  storageBarrier();
  data[i] = left;
}
