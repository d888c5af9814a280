// passes: polyfill{without=saturate+sign}
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let f = f32(i) * 0.4 - 0.3;
    data[i] = u32(saturate(f) * 100) + u32(sign(i32(i) - 2) + 5) + u32(sign(f) + 2);
}
