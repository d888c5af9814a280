// workgroups: 1
// total: 1
@group(0) @binding(0) var<storage, read_write> total: i32;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  total += i32(i);
}
