@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let t = i32(i) - 2;
    var t_1: i32;
    if t < 0 {
        t_1 = -1;
    } else if t == 0 {
        t_1 = 0;
    } else {
        data[7] = 1u;
        t_1 = 1;
    }
    data[i] = u32(t_1 + 5);
}
