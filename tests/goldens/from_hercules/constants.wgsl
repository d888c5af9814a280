// What WGSL has no constants for, or would refuse as constants: an infinity, shifts, positions past the end, tables.
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@group(0) @binding(1) var<storage, read_write> words: array<u32, 4>;
const table = array<u32, 16>(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3);
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let parts = modf(data[id.x]);
    data[id.x] = parts.fract;
    let at = 9u;
    words[at] = table[words[0] & 15u];
    let by = 33u;
    words[1] = words[2] << by;
}
