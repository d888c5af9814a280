@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let f = f32(i) * 0.4 - 0.3;
    data[i] = u32(clamp(f, 0.0, 1.0) * 100.0) + u32(clamp(i32(i) - 2, -1, 1) + 5) + u32(sign(f) + 2.0);
}
