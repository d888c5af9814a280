override size = 8192;

var<workgroup> tile: array<f32, size>;

@compute @workgroup_size(1)
fn main() {
    tile[0] = 1;
}
// the workgroup variables of an entry point take more memory than the device has
