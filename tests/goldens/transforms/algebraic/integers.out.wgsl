@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let x = data[i];
    let v = vec3u(x, i, 7u);
    data[0] = x;
    data[1] = 0u;
    data[2] = x + 3u;
    data[3] = u32(x >= i) + u32(x == i);
    data[4] = v.zyx.x + i + x;
    data[5] = i + x;
    data[6] = u32(i32(i));
}
