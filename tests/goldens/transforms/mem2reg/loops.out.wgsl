@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var total = 0u;
    for (var k = 0u; k < i + 2u; k++) {
        if k == 3u {
            continue;
        }
        if k == 5u {
            break;
        }
        total += k;
    }
    data[i] = total;
}
