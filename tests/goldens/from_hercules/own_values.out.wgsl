@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> tile: array<u32, 4>;

@compute @workgroup_size(2u, 2u, 1u)
fn main(@builtin(local_invocation_id) local_invocation_id: vec3u) {
    var digits: array<u32, 12>;
    let t = local_invocation_id.x + local_invocation_id.y * 2u;
    let t_1 = data[t];
    digits[0u] = t_1 & 1u;
    digits[1u] = (t_1 >> 1u) & 1u;
    digits[2u] = (t_1 >> 2u) & 1u;
    digits[3u] = (t_1 >> 3u) & 1u;
    digits[4u] = (t_1 >> 4u) & 1u;
    digits[5u] = (t_1 >> 5u) & 1u;
    digits[6u] = (t_1 >> 6u) & 1u;
    digits[7u] = (t_1 >> 7u) & 1u;
    digits[8u] = (t_1 >> 8u) & 1u;
    digits[9u] = (t_1 >> 9u) & 1u;
    digits[10u] = (t_1 >> 10u) & 1u;
    digits[11u] = (t_1 >> 11u) & 1u;
    let before_1 = t_1 * data[t + 4u];
    tile[t] = before_1;
    workgroupBarrier();
    storageBarrier();
    data[t] = before_1 + tile[3u - t] + digits[data[t] % 12u];
}
