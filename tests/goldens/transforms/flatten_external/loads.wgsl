// passes: flatten_external
@group(0) @binding(0) var picture: texture_external;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;

fn texel(some: texture_external, at: vec2u) -> vec4f {
    return textureLoad(some, min(at, textureDimensions(some) - 1));
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_id) at: vec3u) {
    out[at.x] = texel(picture, at.xy);
}
