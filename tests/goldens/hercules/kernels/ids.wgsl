// Numbers of invocations and workgroups are below their counts: no min or comparison is left.
@group(0) @binding(0) var<storage, read_write> a: array<u32, 64>;
var<workgroup> shared_values: array<u32, 8>;

@compute @workgroup_size(4, 2) fn local(@builtin(local_invocation_index) i: u32, @builtin(local_invocation_id) id: vec3u) {
  shared_values[min(i, 7u)] = i;
  workgroupBarrier();
  if (i < 8u && id.x < 4u && id.y <= 1u) { a[i] = shared_values[min(7u - i, 7u)] + select(5u, 6u, id.z == 0u); }
}

@compute @workgroup_size(1) fn groups(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) count: vec3u) {
  if (id.x < count.x) { a[id.x % 64u] = min(id.x, count.x - 1u); }
}
