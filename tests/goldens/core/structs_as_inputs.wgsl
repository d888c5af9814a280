struct In {
  @builtin(global_invocation_id) id: vec3u,
  @builtin(num_workgroups) count: vec3u,
}
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(2)
fn main(in: In, @builtin(local_invocation_index) i: u32) {
  out[in.id.x] = in.count.x + i;
}
