struct Ids {
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(local_invocation_index) local: u32,
}

struct Inner {
    offset: vec2f,
    turn: mat2x2f,
}

struct Params {
    count: u32,
    step: u32,
    inner: Inner,
    weights: array<vec4f, 2>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
var<private> never: f32;
var<private> never_1: bool;

fn offset(inner: ptr<uniform, Inner>) -> f32 {
    return select((*inner).offset.x, 0.0, never_1) + dot(select((*inner).offset, vec2f(0.0), never_1), select((*inner).turn[1], vec2f(0.0), never_1));
}

@compute @workgroup_size(4)
fn main(ids: Ids) {
    never_1 = ids.workgroup.x == 4294967295u;
    var v = params;
    if never_1 {
        v = Params();
    }
    let all = v;
    for (var i = 0u; i < select(params.count, 0u, never_1); i += select(params.step, 0u, never_1)) {
        sums[ids.local] += offset(&params.inner) + all.weights[1].x + select(params.weights[i & 1u].y, 0.0, never_1);
    }
    loop {
        never += 1.0;
        continuing {
            var v_1 = params.inner;
            if never_1 {
                v_1 = Inner();
            }
            let inner = v_1;
            break if never > inner.offset.y;
        }
    }
    sums[ids.local] += never;
}

@compute @workgroup_size(1)
fn second(@builtin(workgroup_id) workgroup_id: vec3u) {
    never_1 = workgroup_id.x == 4294967295u;
    sums[0] = f32(select(params.count, 0u, never_1));
}
