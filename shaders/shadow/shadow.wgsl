// How much of a light reaches each point: the share of the texels around its place in the shadow map that are not nearer
// to the light than the point. The sampler compares four texels and blends the answers.

const BIAS = 0.0078125;
// The distance of the outer samples from the point, in texels.
const SPREAD = 1.25;

@group(0) @binding(0) var shadow_map: texture_depth_2d;
@group(0) @binding(1) var closer: sampler_comparison;
// The place in the shadow map, from 0 to 1, and the distance from the light.
@group(0) @binding(2) var<storage, read> points: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> light: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&points) {
        return;
    }
    let point = points[id.x];
    let step = SPREAD / vec2f(textureDimensions(shadow_map));
    var sum = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let place = point.xy + step * vec2f(f32(x), f32(y));
            sum += textureSampleCompareLevel(shadow_map, closer, place, point.z - BIAS);
        }
    }
    light[id.x] = sum / 9;
}
