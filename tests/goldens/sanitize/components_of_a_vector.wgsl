// workgroups: 1
// data: 4
@group(0) @binding(0) var<storage, read_write> data: vec4f;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  data[i] = 1;
}
