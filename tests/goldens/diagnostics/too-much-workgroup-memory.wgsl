override size = 32768;

var<workgroup> tile: array<f32, size>;

@compute @workgroup_size(1)
fn main() {
    tile[0] = 1;
}
// the workgroup variables of an entry point take more memory than any device has
