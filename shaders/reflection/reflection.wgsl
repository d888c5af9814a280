// What a mirror shows at each of its points: the sample of a cube map of the surroundings in the direction into which the
// line of sight is reflected.

@group(0) @binding(0) var surroundings: texture_cube<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;
// Normals of length 1.
@group(0) @binding(2) var<storage, read> normals: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> colours: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&normals) {
        return;
    }
    let seen = reflect(vec3f(0.36, 0.48, 0.8), normals[id.x].xyz);
    colours[id.x] = textureSampleLevel(surroundings, smooth_sampler, seen, 0);
}
