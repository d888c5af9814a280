// Warped fractal noise: sums of gradient noise whose arguments are such sums themselves. Integer hashes.

struct Params { width: u32, height: u32, seed: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;

fn mixed(v: u32) -> u32 {
    var h = v * 747796405u + 2891336453u;
    h = ((h >> ((h >> 28u) + 4u)) ^ h) * 277803737u;
    return (h >> 22u) ^ h;
}

fn hash(x: i32, y: i32, z: i32, seed: u32) -> u32 {
    return mixed(u32(x) ^ mixed(u32(y) ^ mixed(u32(z) ^ mixed(seed))));
}

fn gradient(h: u32, d: vec3f) -> f32 {
    let u = select(d.y, d.x, (h & 15u) < 8u);
    let v = select(select(d.z, d.x, (h & 15u) == 12u || (h & 15u) == 14u), d.y, (h & 15u) < 4u);
    return select(u, -u, (h & 1u) == 1u) + select(v, -v, (h & 2u) == 2u);
}

fn fade(t: f32) -> f32 { return t * t * t * (t * (t * 6.0 - 15.0) + 10.0); }

fn noise(p: vec3f, seed: u32) -> f32 {
    let cell = floor(p);
    let f = p - cell;
    let i = vec3i(cell);
    let u = vec3f(fade(f.x), fade(f.y), fade(f.z));
    let a = gradient(hash(i.x, i.y, i.z, seed), f);
    let b = gradient(hash(i.x + 1, i.y, i.z, seed), f - vec3f(1.0, 0.0, 0.0));
    let c = gradient(hash(i.x, i.y + 1, i.z, seed), f - vec3f(0.0, 1.0, 0.0));
    let d = gradient(hash(i.x + 1, i.y + 1, i.z, seed), f - vec3f(1.0, 1.0, 0.0));
    let e = gradient(hash(i.x, i.y, i.z + 1, seed), f - vec3f(0.0, 0.0, 1.0));
    let g = gradient(hash(i.x + 1, i.y, i.z + 1, seed), f - vec3f(1.0, 0.0, 1.0));
    let h = gradient(hash(i.x, i.y + 1, i.z + 1, seed), f - vec3f(0.0, 1.0, 1.0));
    let k = gradient(hash(i.x + 1, i.y + 1, i.z + 1, seed), f - vec3f(1.0));
    return mix(mix(mix(a, b, u.x), mix(c, d, u.x), u.y), mix(mix(e, g, u.x), mix(h, k, u.x), u.y), u.z);
}

fn fbm(p: vec3f, octaves: u32, seed: u32) -> f32 {
    var sum = 0.0;
    var scale = 0.5;
    var q = p;
    for (var i = 0u; i < octaves; i++) {
        sum += scale * noise(q, seed + i);
        q = vec3f(q.y, q.z, q.x) * 2.0 + vec3f(1.5, 0.25, 3.0);
        scale *= 0.5;
    }
    return sum;
}

fn ridged(p: vec3f, seed: u32) -> f32 {
    var sum = 0.0;
    var weight = 1.0;
    var q = p;
    for (var i = 0u; i < 4u; i++) {
        let n = 1.0 - abs(noise(q, seed + i));
        sum += n * n * weight;
        weight = clamp(n * 2.0, 0.0, 1.0) * 0.5;
        q = q * 2.0;
    }
    return sum;
}

fn warp(p: vec3f, seed: u32) -> vec3f {
    return vec3f(fbm(p, 3u, seed), fbm(p + vec3f(5.25, 1.25, 2.5), 3u, seed), fbm(p - vec3f(1.5, 7.75, 0.5), 3u, seed));
}

fn clouds(p: vec3f, seed: u32) -> f32 {
    let first = warp(p, seed);
    let second = warp(p + 4.0 * first, seed + 7u);
    return fbm(p + 4.0 * second, 5u, seed + 13u);
}

fn height(p: vec3f, seed: u32) -> f32 {
    return 0.5 * ridged(p, seed) + 0.5 * ridged(p + warp(p, seed), seed + 1u) * fbm(p, 4u, seed);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= params.width || id.y >= params.height { return; }
    let p = vec3f(f32(id.x), f32(id.y), f32(params.seed & 7u)) * 0.125;
    let c = clouds(p, params.seed);
    let h = height(p, params.seed);
    let dx = height(p + vec3f(0.125, 0.0, 0.0), params.seed) - height(p - vec3f(0.125, 0.0, 0.0), params.seed);
    let dy = height(p + vec3f(0.0, 0.125, 0.0), params.seed) - height(p - vec3f(0.0, 0.125, 0.0), params.seed);
    out[id.y * params.width + id.x] = vec4f(c, h, dx, dy);
}
