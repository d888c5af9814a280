@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;

fn texel(some: texture_2d<f32>, at: vec2u) -> vec4f {
    return textureLoad(some, min(at, textureDimensions(some) - 1u), 0u);
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_id) at: vec3u) {
    out[at.x] = texel(picture, at.xy);
}
