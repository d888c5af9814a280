@group(0) @binding(0) var<storage, read_write> out: array<f32>;
var<workgroup> tile: array<f32, 9>;
var<private> start: f32 = 1.0;

@compute @workgroup_size(4u, 2u)
fn main(@builtin(local_invocation_index) index: u32) {
    tile[index] = start;
    if false {
        out[index] = tile[4u] * 0.5;
    }
}
