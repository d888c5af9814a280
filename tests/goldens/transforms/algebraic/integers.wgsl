// passes: algebraic
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let x = data[i];
    let v = vec3(x, i, 7);
    data[0] = ((x + 0) * 1) | 0;
    data[1] = x - x + (i & 0) + (x ^ x);
    data[2] = (x + 1) + 2;
    data[3] = u32(!(x < i)) + u32((x == i) == true);
    data[4] = v.zyx.x + v.y + ~~x;
    data[5] = select(x, i, true) + select(x, x, i > 2);
    data[6] = u32(-(-i32(i))) + i % 1;
}
