@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
var<workgroup> tile: array<u32, 64>;

@compute @workgroup_size(64u, 1u, 1u)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3u,
    @builtin(local_invocation_id) local_invocation_id: vec3u,
) {
    let workgroup_id_x = workgroup_id.x;
    let local_invocation_id_x = local_invocation_id.x;
    tile[local_invocation_id_x] = sums[workgroup_id_x * 64u + local_invocation_id_x];
    var reach = 32u;
    while reach > 0u {
        workgroupBarrier();
        if local_invocation_id_x < reach {
            tile[local_invocation_id_x] += tile[local_invocation_id_x + reach];
        }
        reach >>= 1u;
    }
    workgroupBarrier();
    let t = tile[0u];
    storageBarrier();
    if local_invocation_id_x == 0u {
        sums[workgroup_id_x] = t;
    }
}
