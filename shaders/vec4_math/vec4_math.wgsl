// Elementary functions, component by component, on vectors of four.

@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<uniform> exponent: f32;
@group(0) @binding(2) var<storage, read_write> exp_x: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> sin_x: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> sqrt_x: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> pow_x: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    if i >= arrayLength(&x) {
        return;
    }
    let v = x[i];
    exp_x[i] = exp(v);
    sin_x[i] = sin(v);
    sqrt_x[i] = sqrt(abs(v));
    pow_x[i] = pow(abs(v) + 0.5, vec4f(exponent));
}
