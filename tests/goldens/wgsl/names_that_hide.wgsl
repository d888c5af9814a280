struct vec3f {
    x: i32,
}

@group(0) @binding(0) var<storage, read_write> out: array<f32>;

fn length(v: vec2f) -> f32 {
    return v.x;
}

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) global_invocation_id: vec3<u32>) {
    let max = out[1];
    let made = vec3f(1);
    let t = vec3<f32>(max, f32(made.x), 3.0);
    out[global_invocation_id.x] = length(t.xy) + min(t.x, 2.0);
}
