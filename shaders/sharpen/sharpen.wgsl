// Sharpens a picture by unsharp masking: what a 3x3 binomial blur takes away is added once more. The picture may be of
// any sampled format; beyond its border it goes on with the nearest texel.

override strength: f32 = 1.0;

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var sharp: texture_storage_2d<rgba8unorm, write>;

fn texel(at: vec2i) -> vec4f {
    let last = vec2i(textureDimensions(picture)) - 1;
    return textureLoad(picture, clamp(at, vec2i(0), last), 0);
}

fn blurred(at: vec2i) -> vec3f {
    var sum = vec3f(0);
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let weight = f32((2 - abs(x)) * (2 - abs(y))) / 16.0;
            sum += weight * texel(at + vec2i(x, y)).rgb;
        }
    }
    return sum;
}

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= textureDimensions(sharp)) {
        return;
    }
    let own = texel(vec2i(id.xy));
    let sharpened = own.rgb + strength * (own.rgb - blurred(vec2i(id.xy)));
    textureStore(sharp, id.xy, vec4f(sharpened, own.a));
}
