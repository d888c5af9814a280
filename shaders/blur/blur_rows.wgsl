// A box blur along rows of packed bytes: each invocation slides a window along a row of its own.

struct Blur {
    size: vec2i,
    radius: i32,
}

@group(0) @binding(0) var<uniform> blur: Blur;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> blurred: array<u32>;

fn channels(texel: u32) -> vec4u {
    return vec4u(texel & 0xffu, (texel >> 8u) & 0xffu, (texel >> 16u) & 0xffu, texel >> 24u);
}

fn packed(texel: vec4u) -> u32 {
    return texel.x | (texel.y << 8u) | (texel.z << 16u) | (texel.w << 24u);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= u32(blur.size.y) {
        return;
    }
    let start = id.x * u32(blur.size.x);
    let last = blur.size.x - 1;
    var sum = channels(source[start]) * u32(blur.radius + 1);
    for (var x = 1; x <= blur.radius; x++) {
        sum += channels(source[start + u32(min(x, last))]);
    }
    let count = u32(2 * blur.radius + 1);
    for (var x = 0; x <= last; x++) {
        blurred[start + u32(x)] = packed(sum / count);
        sum += channels(source[start + u32(min(x + blur.radius + 1, last))]);
        sum -= channels(source[start + u32(max(x - blur.radius, 0))]);
    }
}
