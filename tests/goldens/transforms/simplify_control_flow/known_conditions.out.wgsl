@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    data[0] = 1u;
    data[2] = i;
    data[6] = 2u;
    data[4] = i;
    data[5] = 1u;
}
