@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let sum_3 = i * 3u + 0u;
    let sum_4 = sum_3 * 3u + 2u;
    let sum_1 = sum_4 * 3u + 4u;
    data[i] = sum_1 + 6u;
}
