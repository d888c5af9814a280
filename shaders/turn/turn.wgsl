// Turns and scales a picture about its centre: each pixel of the new one is a bilinear sample of the old one, which the
// sampler continues past its borders.

struct Motion {
    // The cosine and sine of the angle, both over the scale.
    axis: vec2f,
}

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;
@group(0) @binding(2) var<uniform> motion: Motion;
@group(0) @binding(3) var turned: texture_storage_2d<rgba32float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let size = textureDimensions(turned);
    if any(id.xy >= size) {
        return;
    }
    let from_centre = vec2f(id.xy) + 0.5 - 0.5 * vec2f(size);
    let rotation = mat2x2f(motion.axis, vec2f(-motion.axis.y, motion.axis.x));
    let place = rotation * from_centre / vec2f(textureDimensions(picture)) + 0.5;
    textureStore(turned, id.xy, textureSampleLevel(picture, smooth_sampler, place, 0));
}
