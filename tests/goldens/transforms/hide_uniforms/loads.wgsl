// passes: hide_uniforms
// scalars, vectors, a matrix and structures are loaded, in a function, in a loop and in its continuing part
struct Ids { @builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32 }
struct Inner { offset: vec2f, turn: mat2x2f }
struct Params { count: u32, step: u32, inner: Inner, weights: array<vec4f, 2> }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
var<private> never: f32;

fn offset(inner: ptr<uniform, Inner>) -> f32 {
    return (*inner).offset.x + dot((*inner).offset, (*inner).turn[1]);
}

@compute @workgroup_size(4)
fn main(ids: Ids) {
    let all = params;
    for (var i = 0u; i < params.count; i += params.step) {
        sums[ids.local] += offset(&params.inner) + all.weights[1].x + params.weights[i & 1].y;
    }
    loop {
        never += 1.0;
        continuing {
            let inner = params.inner;
            break if never > inner.offset.y;
        }
    }
    sums[ids.local] += never;
}

@compute @workgroup_size(1)
fn second() {
    sums[0] = f32(params.count);
}
