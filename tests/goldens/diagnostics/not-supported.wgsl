@group(0) @binding(0) var image: texture_2d<f32>;

@compute @workgroup_size(1)
fn main() {
    _ = textureLoad(image, vec2u(), 0);
}
// valid WGSL that a device cannot run
