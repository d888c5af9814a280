@group(0) @binding(0) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let a = out[0];
    let b = out[1];
    let u = id.x;
    out[2] = a + b * a - (b - a) - (a + b);
    out[3] = (a + b) * (a - b) / (a * b) % 3;
    out[4] = (a & b) | ((a ^ b) & 7);
    out[5] = (a << (u + 1u)) >> (u & 3u);
    out[6] = -(-a) - -b + ~(a * b);
    out[7] = select(1, 2, (a < b) == (b < a));
    out[8] = i32(all(vec2<bool>((a < b), b > a)));
    out[9] = select(a, b, (a < b && b < 3) || !(a == b || a > 4));
    let v = vec3f(f32(a), f32(b), 1.0).zyx.xy;
    out[10] = i32(dot(v, v.yx) + v[u] + (v * 2.0).x);
}
