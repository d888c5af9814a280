@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let x = data[i];
    let s = i32(x);
    let f = f32(i);
    data[0] = (x << 3u) + (x >> 4u) + (x & 31u);
    data[1] = u32(s << 2u) + u32(s / 4) + u32(s % 4);
    data[2] = x * 6u + x / 3u;
    data[3] = dot(vec2u(x, i) << vec2u(2u), vec2u(1u));
    data[4] = bitcast<u32>(f * 0.25) + bitcast<u32>(f / 3.0);
}
