// y = a * x + y, one element an invocation.

struct Params {
    a: f32,
    n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

override width: u32 = 64;

@compute @workgroup_size(width)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    if i >= params.n {
        return;
    }
    y[i] = params.a * x[i] + y[i];
}
