@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var a: u32;
    var b: u32;
    var k: u32;
    a = 0u;
    b = 1u;
    k = 0u;
    var a_1: u32;
    var b_1: u32;
    var k_1: u32;
    loop {
        let t = a;
        let t_1 = b;
        let t_2 = k;
        if !(t_2 < i + 3u) {
            a_1 = t;
            b_1 = t_1;
            k_1 = t_2;
            break;
        }
        let t_3 = t + t_2;
        continuing {
            a = t_1;
            b = t_3;
            k = t_2 + 1u;
        }
    }
    data[i] = select(a_1, b_1, i > 1u);
}
