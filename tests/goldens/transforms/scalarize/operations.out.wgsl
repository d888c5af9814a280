@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let v = vec3u(i, data[i], 7u);
    let t = v.xy;
    let t_1 = vec2f(f32(t.x), f32(t.y));
    let f = vec2f(t_1.x * 2.0, t_1.y * 2.0);
    let t_2 = v.zyx;
    let t_3 = vec3u(min(v.x, t_2.x), min(v.y, t_2.y), min(v.z, t_2.z));
    let t_4 = vec3u(t_3.x * 3u, t_3.y * 3u, t_3.z * 3u);
    data[0] = dot(vec3u(t_4.x + v.x, t_4.y + v.y, t_4.z + v.z), vec3u(1u));
    data[1] = u32(any(vec2<bool>(f.x > 3.0, f.y > 3.0))) + u32(vec2f(-f.x, -f.y).x);
}
