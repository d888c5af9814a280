@group(0) @binding(0) var<storage, read_write> out: array<f32>;
var<workgroup> tile: array<f32, 17>;
var<private> start: f32 = 0.5;

@compute @workgroup_size(8u, 4u)
fn main(@builtin(local_invocation_index) index: u32) {
    tile[index] = start;
    if true {
        out[index] = tile[8u] * 0.25;
    }
}
