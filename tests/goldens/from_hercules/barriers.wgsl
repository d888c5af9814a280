// Barriers come back between the parts of a kernel, around a loop of the workgroup, and only where memory asks for one.
@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
var<workgroup> tile: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u) {
    tile[i] = sums[group.x * 64u + i];
    for (var reach = 32u; reach > 0u; reach >>= 1u) {
        workgroupBarrier();
        if i < reach {
            tile[i] += tile[i + reach];
        }
    }
    workgroupBarrier();
    if i == 0u {
        sums[group.x] = tile[0];
    }
}
