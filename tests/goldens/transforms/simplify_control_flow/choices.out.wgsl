@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let t = data[i];
    let x = select(t, 2u, t > 3u);
    data[i] = x;
}
