var<workgroup> shared_data: array<u32, 4>;
@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32) {
    for (var i = 0u; i < 2u; i++) {
        for (var j = 0u; j < lane; j++) {
            shared_data[lane] += j;
        }
        workgroupBarrier();
    }
    var i_1 = 0u;
    var j_1: u32;
    var state: u32;
    var left: bool;
    loop {
        if state == 0u {
            if !(i_1 < 2u) {
                break;
            }
            j_1 = 0u;
            state = 1u;
        }
        if state == 1u {
            left = false;
            if j_1 < lane {
                data[lane] += shared_data[j_1];
                j_1++;
            } else {
                left = true;
            }
            if left {
                state = 0u;
                continue;
            }
        }
        continuing {
            if state == 0u {
                i_1++;
            }
        }
    }
}
