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
    let t = ids.workgroup.x == 4294967295u;
    never_1 = t;
    var v = params;
    if t {
        v = Params();
    }
    let all = v;
    for (var i = 0u; i < select(params.count, 0u, t); i += select(params.step, 0u, t)) {
        sums[ids.local] += offset(&params.inner) + all.weights[1].x + select(params.weights[i & 1u].y, 0.0, t);
    }
    loop {
        never += 1.0;
        continuing {
            var v_1 = params.inner;
            if t {
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
    let t = workgroup_id.x == 4294967295u;
    never_1 = t;
    sums[0] = f32(select(params.count, 0u, t));
}
