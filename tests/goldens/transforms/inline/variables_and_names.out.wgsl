@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var total = 1u;
    for (var k = 0u; k < 3u; k++) {
        let t = k + i;
        var total_1: u32;
        let t_1 = total;
        for (var k_1 = 0u; k_1 < t; k_1++) {
            total_1 += k_1;
        }
        total = t_1 + total_1;
    }
    data[i] = total;
}
