@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    for (var k = 0u; k < 5u; k++) {
        var goes_on_1: bool;
        switch k {
            case 1u: {
                goes_on_1 = true;
            }
            case 2u: {
                var goes_on: bool;
                switch i {
                    case 0u: {
                        data[4] = 1u;
                        goes_on = true;
                    }
                    default: {
                        data[5] = k;
                    }
                }
                if goes_on {
                    goes_on_1 = true;
                    break;
                }
                data[6] = k;
            }
            default: {
                if i == 2u {
                    goes_on_1 = true;
                    break;
                }
            }
        }
        if goes_on_1 {
            continue;
        }
        data[i] += k;
    }
}
