@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var total: u32;
    var k: u32;
    var total_1: u32;
    var total_2 = 0u;
    var k_1 = 0u;
    loop {
        if !(k_1 < i + 2u) {
            total = total_2;
            k = k_1;
            break;
        }
        if k_1 == 3u {
            total_1 = total_2;
            continue;
        }
        if k_1 == 5u {
            total = total_2;
            k = k_1;
            break;
        }
        total_1 = total_2 + k_1;
        continuing {
            total_2 = total_1;
            k_1++;
        }
    }
    data[i] = total;
}
