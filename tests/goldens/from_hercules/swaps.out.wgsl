@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(1u, 1u, 1u)
fn main() {
    let t = data[3u];
    var i = 0u;
    var a = data[0u];
    var b = data[1u];
    var c = data[2u];
    while i < t {
        let t_1 = c;
        let t_2 = i;
        let t_3 = a + t_1;
        i = t_2 + 1u;
        a = b;
        b = t_3;
        c = t_1 * 2u + t_2;
    }
    data[4u] = a;
    data[5u] = b;
    data[6u] = c;
}
