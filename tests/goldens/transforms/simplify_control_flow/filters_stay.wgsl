// passes: simplify_control_flow
@group(0) @binding(0) var<storage, read_write> out: array<u32, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32) {
    if true {
        out[lane] = 1;
    }
    @diagnostic(off, subgroup_uniformity) {
        out[lane] = 7;
    }
}
