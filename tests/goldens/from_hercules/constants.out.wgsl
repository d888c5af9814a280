@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@group(0) @binding(1) var<storage, read_write> words: array<u32, 4>;

const table = array<u32, 16>(3u, 1u, 4u, 1u, 5u, 9u, 2u, 6u, 5u, 3u, 5u, 8u, 9u, 7u, 9u, 3u);

@compute @workgroup_size(1u, 1u, 1u)
fn main(@builtin(workgroup_id) workgroup_id: vec3u) {
    var bits = 2139095040u;
    let workgroup_id_x = workgroup_id.x;
    let t = data[workgroup_id_x];
    data[workgroup_id_x] = select(t - trunc(t), 0.0, abs(t) == bitcast<f32>(bits));
    words[3u] = table[words[0u] & 15u];
    words[1u] = words[2u] << 1u;
}
