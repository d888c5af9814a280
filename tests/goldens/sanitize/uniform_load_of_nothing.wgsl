// workgroups: 1
// data: 4
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> count: u32;
var<workgroup> other: u32;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  if i == 2 { other = 3; }
  data[i] = workgroupUniformLoad(&count) + workgroupUniformLoad(&other);
}
