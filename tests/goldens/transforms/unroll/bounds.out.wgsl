@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    var sum = 0u;
    for (var k = 0u; k < 3u; k++) {
        sum += k;
    }
    let sum_2_2 = sum + data[0u];
    let sum_2_3 = sum_2_2 + data[1u];
    var sum_4 = sum_2_3;
    for (var k_2 = 0u; k_2 < 2u; k_2++) {
        if sum_4 > 5u {
            break;
        }
        sum_4 += 9u;
    }
    for (var k_3 = 0u; k_3 < i; k_3++) {
        sum_4 += k_3;
    }
    data[i] = sum_4;
}
