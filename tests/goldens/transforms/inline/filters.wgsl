// passes: inline
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(2) var smooth_: sampler;

// Nothing in it that a filter is about.
@diagnostic(off, derivative_uniformity)
fn plain(x: f32) -> f32 {
    return x * 2.0;
}

@diagnostic(off, derivative_uniformity)
fn sampled(x: f32) -> f32 {
    return textureSample(picture, smooth_, vec2f(x)).x;
}

@fragment
fn shade(@location(0) x: f32) -> @location(0) vec4f {
    if x > 0.5 {
        return vec4f(sampled(x));
    }
    return vec4f(plain(x));
}

@fragment
@diagnostic(off, derivative_uniformity)
fn quiet(@location(0) x: f32) -> @location(0) vec4f {
    return vec4f(sampled(x) + plain(x));
}

@compute @workgroup_size(1)
fn main() {
    data[0] = plain(data[1]);
}
