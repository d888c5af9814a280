// workgroups: 2
// found: 1
@group(0) @binding(0) var<storage, read_write> found: u32;

@compute @workgroup_size(4)
fn main() {
  found = 1u;
}
