// passes: algebraic
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let f = bitcast<f32>(data[i]);
    let z = vec2(f) * 1.0;
    data[0] = bitcast<u32>(f * 1 - 0);
    data[1] = bitcast<u32>(f + 0);
    data[2] = bitcast<u32>(f * 0) + bitcast<u32>(f - f);
    data[3] = u32(!(f < 2.0)) + u32(!(f == z.y));
    data[4] = bitcast<u32>(-(-f) / 1.0);
}
