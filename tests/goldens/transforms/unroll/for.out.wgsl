@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    var sum_2_1: u32;
    if data[0u] > 2u {
        sum_2_1 = 0u;
    } else {
        data[0u] += i;
        sum_2_1 = 0u;
    }
    var sum_2_2: u32;
    if data[1u] > 2u {
        sum_2_2 = sum_2_1 + 1u;
    } else {
        data[1u] += i;
        sum_2_2 = sum_2_1;
    }
    var sum_2_3: u32;
    if data[2u] > 2u {
        sum_2_3 = sum_2_2 + 2u;
    } else {
        data[2u] += i;
        sum_2_3 = sum_2_2;
    }
    let sum_3_2 = sum_2_3 * 2u + 10u;
    let sum_3_3 = sum_3_2 * 2u + 6u;
    let sum_3_4 = sum_3_3 * 2u + 2u;
    data[i] = sum_3_4;
}
