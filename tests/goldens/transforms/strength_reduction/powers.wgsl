// passes: strength_reduction
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let x = data[i];
    let s = i32(x);
    let f = f32(i);
    data[0] = x * 8 + x / 16 + x % 32;
    data[1] = u32(s * 4) + u32(s / 4) + u32(s % 4);
    data[2] = x * 6 + x / 3;
    data[3] = dot(vec2(x, i) * 4, vec2(1));
    data[4] = bitcast<u32>(f / 4.0) + bitcast<u32>(f / 3.0);
}
