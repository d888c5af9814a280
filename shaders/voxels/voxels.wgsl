// One step of heat flow through a block of matter: each voxel goes some way towards the mean of its six neighbours. Where
// the mask has a wall, nothing flows.

const RATE = 0.25;

@group(0) @binding(0) var heat: texture_3d<f32>;
@group(0) @binding(1) var walls: texture_2d_array<u32>;
@group(0) @binding(2) var after: texture_storage_3d<r32float, write>;

fn is_wall(at: vec3i) -> bool {
    let outside = any(vec3u(at) >= textureDimensions(heat));
    return outside || textureLoad(walls, at.xy, at.z, 0).x != 0;
}

fn flow(at: vec3i, own: f32) -> f32 {
    if is_wall(at) {
        return 0;
    }
    return textureLoad(heat, at, 0).x - own;
}

@compute @workgroup_size(8, 4, 2)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if any(id >= textureDimensions(after)) {
        return;
    }
    let at = vec3i(id);
    let own = textureLoad(heat, at, 0).x;
    if is_wall(at) {
        textureStore(after, at, vec4f(own));
        return;
    }
    var sum = flow(at - vec3i(1, 0, 0), own) + flow(at + vec3i(1, 0, 0), own);
    sum += flow(at - vec3i(0, 1, 0), own) + flow(at + vec3i(0, 1, 0), own);
    sum += flow(at - vec3i(0, 0, 1), own) + flow(at + vec3i(0, 0, 1), own);
    textureStore(after, at, vec4f(own + RATE * sum / 6));
}
