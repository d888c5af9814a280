@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var linear: sampler;
@group(0) @binding(2) var<storage, read_write> color: vec4f;

@compute @workgroup_size(1)
fn main() {
    color = textureSampleLevel(image, linear, vec2f(0.5), 0.0);
}
// valid WGSL that a device cannot run
