// y = a * x + y in half precision, two elements at a time.

enable f16;

@group(0) @binding(0) var<uniform> a: vec2<f16>;
@group(0) @binding(1) var<storage, read> x: array<vec2<f16>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec2<f16>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&x) {
        y[id.x] += a * x[id.x];
    }
}
