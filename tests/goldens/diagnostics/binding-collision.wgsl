@group(0) @binding(0) var<storage> in: array<f32>;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(1)
fn main() {
    out[0] = in[0];
}
// two resources that an entry point uses have the same group and binding
