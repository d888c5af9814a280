@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;

@fragment
fn main(@location(0) place: vec2<f32>) -> @location(0) vec4<f32> {
    if place.x < 0.0 {
        return vec4<f32>();
    }
    return textureSample(image, smooth_sampler, place);
}
