// passes: drop_filters
@group(0) @binding(0) var<storage, read_write> out: array<u32, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32) {
    @diagnostic(off, derivative_uniformity) {
        if lane == 3 {
            return;
        }
        out[lane] = 1;
    }
    @diagnostic(off, subgroup_uniformity) if lane == 2 {
        out[lane] = 7;
    }
}
