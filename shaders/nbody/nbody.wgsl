// One step of the n-body problem. A body is its position and, in w, its mass. A workgroup reads the bodies in tiles.

const TILE = 64u;

struct Params {
    count: u32,
    time_step: f32,
    softening_squared: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> bodies: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> velocities: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> moved: array<vec4f>;

var<workgroup> tile: array<vec4f, TILE>;

fn attraction(to: vec4f, position: vec3f) -> vec3f {
    let way = to.xyz - position;
    let inverse_distance = inverseSqrt(dot(way, way) + params.softening_squared);
    return to.w * inverse_distance * inverse_distance * inverse_distance * way;
}

@compute @workgroup_size(TILE)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    let me = bodies[min(id.x, params.count - 1u)];
    var acceleration = vec3f();
    for (var start = 0u; start < params.count; start += TILE) {
        var other = vec4f();
        if start + local < params.count {
            other = bodies[start + local];
        }
        tile[local] = other;
        workgroupBarrier();
        for (var i = 0u; i < TILE; i++) {
            acceleration += attraction(tile[i], me.xyz);
        }
        workgroupBarrier();
    }
    if id.x >= params.count {
        return;
    }
    let velocity = velocities[id.x].xyz + params.time_step * acceleration;
    velocities[id.x] = vec4f(velocity, 0.0);
    moved[id.x] = vec4f(me.xyz + params.time_step * velocity, me.w);
}
