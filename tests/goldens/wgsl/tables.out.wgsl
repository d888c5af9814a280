@group(0) @binding(0) var<storage, read_write> out: array<f32>;

const table = array<f32, 3>(0.25, 0.5, 0.25);

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    for (var i = 0u; i < 3u; i++) {
        out[id.x] += table[i] * out[id.x + i];
    }
    var copy = array<f32, 3>(0.25, 0.5, 0.25);
    copy[1] = 2.0;
    let split = frexp(out[0]);
    out[1] = split.fract + f32(split.exp) + modf(out[2]).whole + copy[2];
}
