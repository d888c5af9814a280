@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> tile: array<u32, 4>;

@compute @workgroup_size(2u, 2u, 1u)
fn main(@builtin(local_invocation_id) local_invocation_id: vec3u) {
    var digits: array<u32, 12>;
    let t = local_invocation_id.x + local_invocation_id.y * 2u;
    let t_1 = data[t];
    var d = 0u;
    while d < 12u {
        let t_2 = d;
        digits[t_2] = (t_1 >> t_2) & 1u;
        d = t_2 + 1u;
    }
    let before_1 = t_1 * data[t + 4u];
    tile[t] = before_1;
    workgroupBarrier();
    storageBarrier();
    data[t] = before_1 + tile[3u - t] + digits[data[t] % 12u];
}
