// Warped fractal noise as in noise_values.wgsl, with a state that is handed from function to function by pointer.

struct Params { width: u32, height: u32, seed: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;

struct State { p: vec3f, seed: u32, sum: f32, scale: f32 }

fn mix_bits(v: ptr<function, u32>) {
    let h = *v * 747796405u + 2891336453u;
    let w = ((h >> ((h >> 28u) + 4u)) ^ h) * 277803737u;
    *v = (w >> 22u) ^ w;
}

fn corner(i: vec3i, offset: vec3i, f: vec3f, seed: u32, result: ptr<function, f32>) {
    var h = seed;
    mix_bits(&h);
    h ^= u32(i.z + offset.z);
    mix_bits(&h);
    h ^= u32(i.y + offset.y);
    mix_bits(&h);
    h ^= u32(i.x + offset.x);
    mix_bits(&h);
    let d = f - vec3f(offset);
    let low = h & 15u;
    var u = d.y;
    if low < 8u { u = d.x; }
    var v = d.z;
    if low < 4u { v = d.y; } else if low == 12u || low == 14u { v = d.x; }
    if (h & 1u) == 1u { u = -u; }
    if (h & 2u) == 2u { v = -v; }
    *result = u + v;
}

fn add_noise(state: ptr<function, State>, q: vec3f, seed: u32) {
    let cell = floor(q);
    let f = q - cell;
    let i = vec3i(cell);
    let u = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    var corners: array<f32, 8>;
    for (var n = 0; n < 8; n++) {
        var value: f32;
        corner(i, vec3i(n & 1, (n >> 1) & 1, n >> 2), f, seed, &value);
        corners[n] = value;
    }
    let near = mix(mix(corners[0], corners[1], u.x), mix(corners[2], corners[3], u.x), u.y);
    let far = mix(mix(corners[4], corners[5], u.x), mix(corners[6], corners[7], u.x), u.y);
    (*state).sum = mix(near, far, u.z);
}

fn fbm(state: ptr<function, State>, octaves: u32) {
    var sum = 0.0;
    var q = (*state).p;
    (*state).scale = 0.5;
    for (var i = 0u; i < octaves; i++) {
        add_noise(state, q, (*state).seed + i);
        sum += (*state).scale * (*state).sum;
        q = q.yzx * 2.0 + vec3f(1.5, 0.25, 3.0);
        (*state).scale *= 0.5;
    }
    (*state).sum = sum;
}

fn ridged(state: ptr<function, State>) {
    var sum = 0.0;
    var weight = 1.0;
    var q = (*state).p;
    for (var i = 0u; i < 4u; i++) {
        add_noise(state, q, (*state).seed + i);
        let n = 1.0 - abs((*state).sum);
        sum += n * n * weight;
        weight = clamp(n * 2.0, 0.0, 1.0) * 0.5;
        q = q * 2.0;
    }
    (*state).sum = sum;
}

fn warp(p: ptr<function, vec3f>, seed: u32) {
    let at = *p;
    var state = State(at, seed, 0.0, 0.0);
    fbm(&state, 3u);
    (*p).x = state.sum;
    state.p = at + vec3f(5.25, 1.25, 2.5);
    fbm(&state, 3u);
    (*p).y = state.sum;
    state.p = at - vec3f(1.5, 7.75, 0.5);
    fbm(&state, 3u);
    (*p).z = state.sum;
}

fn height(p: vec3f, result: ptr<function, f32>) {
    var state = State(p, params.seed, 0.0, 0.0);
    ridged(&state);
    let plain = state.sum;
    var moved = p;
    warp(&moved, params.seed);
    state.p = p + moved;
    state.seed = params.seed + 1u;
    ridged(&state);
    let ridge = state.sum;
    state.p = p;
    state.seed = params.seed;
    fbm(&state, 4u);
    *result = 0.5 * plain + 0.5 * ridge * state.sum;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= params.width || id.y >= params.height { return; }
    let p = vec3f(f32(id.x), f32(id.y), f32(params.seed & 7u)) * 0.125;
    var first = p;
    warp(&first, params.seed);
    var second = p + 4.0 * first;
    warp(&second, params.seed + 7u);
    var state = State(p + 4.0 * second, params.seed + 13u, 0.0, 0.0);
    fbm(&state, 5u);
    var h: f32; var left: f32; var right: f32; var up: f32; var down: f32;
    height(p, &h);
    height(p + vec3f(0.125, 0.0, 0.0), &right);
    height(p - vec3f(0.125, 0.0, 0.0), &left);
    height(p + vec3f(0.0, 0.125, 0.0), &up);
    height(p - vec3f(0.0, 0.125, 0.0), &down);
    out[id.y * params.width + id.x] = vec4f(state.sum, h, right - left, up - down);
}
