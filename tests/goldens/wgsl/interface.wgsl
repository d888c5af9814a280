requires readonly_and_readwrite_storage_textures;
diagnostic(off, derivative_uniformity);

@id(7) override scale: f32 = 2.0;
override count: u32;
override flag = count > 3 && scale > 1.0;

struct Particle {
    @size(16) position: vec3f,
    @align(32) mass: f32,
    tail: array<atomic<u32>, 4>,
}

@group(0) @binding(0) var<uniform> unused_uniform: vec4f;
@group(0) @binding(1) var<storage> source: array<f32>;
@group(0) @binding(2) var<storage, read_write> particles: array<Particle>;
@group(1) @binding(0) var image: texture_2d<f32>;
@group(1) @binding(1) var picture: texture_storage_2d<rgba8unorm, write>;
@group(1) @binding(2) var point: sampler;
var<private> seed: u32 = 12345u;
var<workgroup> tile: array<f32, count * 2>;

@must_use
fn read(p: ptr<storage, array<Particle>, read_write>, i: u32) -> f32 {
    return (*p)[i].mass;
}

fn unused_in_dead_code() {
    return;
    _ = point;
}

@diagnostic(warning, subgroup_uniformity)
@compute @workgroup_size(count, 2)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    _ = unused_uniform;
    _ = read(&particles, id.x);
    unused_in_dead_code();
    seed ^= groups.x;
    if flag {
        tile[id.x] = source[id.x] * scale;
    }
    let texel = textureLoad(image, vec2i(0), 0);
    textureStore(picture, id.xy, texel);
    let p = &particles[id.x].tail[1];
    let result = atomicCompareExchangeWeak(p, 1u, 2u);
    if result.exchanged {
        atomicStore(p, atomicLoad(p) + result.old_value);
    }
}
