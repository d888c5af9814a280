@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = vec3u(i, 2u, 3u) + data[0];
    let b = vec3u(data[1], 5u, i);
    let v = vec3u(a.x * b.x + 1u, a.y * b.y + 2u, a.z * b.z + 3u);
    let w = vec2f(f32(a.x), f32(a.y));
    let mixed = vec2u(a.x + b.y, a.y * b.x);
    data[i] = v.x + v.y + v.z + u32(w.x * w.y) + b.z + mixed.x + mixed.y;
}
