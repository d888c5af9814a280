// Blurs a picture with the distance from a row, as if only that were in focus: a pixel is a trilinear sample at a level of
// detail that grows by `strength` for each row in between.

struct Focus {
    row: f32,
    strength: f32,
}

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var trilinear: sampler;
@group(0) @binding(2) var<uniform> focus: Focus;
@group(0) @binding(3) var blurred: texture_storage_2d<rgba32float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let size = textureDimensions(blurred);
    if any(id.xy >= size) {
        return;
    }
    let place = (vec2f(id.xy) + 0.5) / vec2f(size);
    let level = focus.strength * abs(f32(id.y) - focus.row);
    textureStore(blurred, id.xy, textureSampleLevel(picture, trilinear, place, level));
}
