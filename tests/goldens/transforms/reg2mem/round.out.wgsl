@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var a_1: u32;
    var b_1: u32;
    var k_1: u32;
    a_1 = 0u;
    b_1 = 1u;
    k_1 = 0u;
    var a: u32;
    var b: u32;
    var k: u32;
    loop {
        let t = a_1;
        let t_1 = b_1;
        let t_2 = k_1;
        if !(t_2 < i + 3u) {
            a = t;
            b = t_1;
            k = t_2;
            break;
        }
        let t_3 = t + t_2;
        continuing {
            a_1 = t_1;
            b_1 = t_3;
            k_1 = t_2 + 1u;
        }
    }
    data[i] = select(a, b, i > 1u);
}
