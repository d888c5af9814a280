enable f16;
diagnostic(off, derivative_uniformity);
struct Params { @size(16) scale: f16, @align(32) offset: vec3f }
@group(0) @binding(1) var<uniform> params: Params;
@group(1) @binding(0) var<storage> source: array<vec3h>;
@group(1) @binding(2) var<storage, read_write> target_: array<vec3f>;
var<private> seed = vec2f(1, 2);
var<workgroup> shared_: mat2x2f;

@diagnostic(info, subgroup_uniformity)
@compute @workgroup_size(8, 4, 2)
fn main(@builtin(global_invocation_id) id: vec3u) {
  target_[id.x] = vec3f(source[id.x] * params.scale) + params.offset * seed.y;
}
