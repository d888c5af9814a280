// workgroups: 3
// data: 64
// bins: 4
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>>;
var<workgroup> local_bins: array<atomic<u32>, 4>;
var<workgroup> tile: array<vec4u, 8>;
var<workgroup> total: u32;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3u) {
  tile[i] = vec4u(data[id.x], i, 0, 1);
  atomicAdd(&local_bins[i % 4], 1);
  if i == 0 { total = 8; }
  workgroupBarrier();
  tile[i].y += tile[i].x;
  workgroupBarrier();
  data[id.x] = tile[7 - i].y + workgroupUniformLoad(&total);
  if i < 4 { atomicAdd(&bins[i], atomicLoad(&local_bins[i])); }
  storageBarrier();
  let neighbour = data[id.x ^ 1];
  storageBarrier();
  data[id.x] += neighbour;
}
