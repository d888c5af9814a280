struct Corner {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(linear, center) color: vec4f,
}

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;

@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    let x = f32(index % 2);
    let position = vec4f(x, f32(index / 2), 0.0, 1.0);
    return Corner(position, vec4f(x));
}

@fragment
fn shade(in: Corner) -> @location(0) vec4f {
    if in.color.a < 0.5 {
        discard;
    }
    return textureSample(image, smooth_sampler, in.position.xy) * in.color + dpdx(in.color);
}
