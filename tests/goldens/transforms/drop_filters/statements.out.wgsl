@group(0) @binding(0) var<storage, read_write> out: array<u32, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32) {
    if lane == 3u {
        return;
    }
    out[lane] = 1u;
    if lane == 2u {
        out[lane] = 7u;
    }
}
