@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> tile: array<u32, 4>;
var<workgroup> chosen: array<u32, 1>;
var<workgroup> memory: array<u32, 4>;

@compute @workgroup_size(4u, 1u, 1u)
fn main(@builtin(local_invocation_id) local_invocation_id: vec3u) {
    var other: u32;
    let local_invocation_id_x = local_invocation_id.x;
    tile[local_invocation_id_x] = data[local_invocation_id_x];
    workgroupBarrier();
    let other_1 = tile[3u - local_invocation_id_x];
    if local_invocation_id_x == 1u {
        chosen[0u] = other_1;
    }
    other = other_1;
    workgroupBarrier();
    memory[local_invocation_id_x] = workgroupUniformLoad(&chosen[0u]);
    workgroupBarrier();
    if workgroupUniformLoad(&memory[0u]) > 3u {
        tile[local_invocation_id_x] = other + 1u;
        workgroupBarrier();
        storageBarrier();
        data[local_invocation_id_x] = tile[(local_invocation_id_x + 1u) & 3u];
    }
}
