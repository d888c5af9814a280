const WEIGHTS = array(0.25, 0.5, 0.25);

@group(0) @binding(0) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    for (var i = 0u; i < 3; i++) {
        out[id.x] += WEIGHTS[i] * out[id.x + i];
    }
    var copy = WEIGHTS;
    copy[1] = 2.0;
    let split = frexp(out[0]);
    out[1] = split.fract + f32(split.exp) + modf(out[2]).whole + copy[2];
}
