// passes: vectorize,dce
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = vec3(i, 2, 3) + data[0];
    let b = vec3(data[1], 5, i);
    let v = vec3(a.x * b.x + 1, a.y * b.y + 2, a.z * b.z + 3);
    let w = vec2(f32(a.x), f32(a.y));
    let same = vec3(b.x, b.y, b.z);
    let mixed = vec2(a.x + b.y, a.y * b.x);
    data[i] = v.x + v.y + v.z + u32(w.x * w.y) + same.z + mixed.x + mixed.y;
}
