@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(1)
fn main() {
    for (var n = 0u; n < 3u; n++) {
        let t = n + 2u;
        var returned_1: bool;
        var result_1 = 99u;
        let t_1 = &data[8u + n];
        for (var k_1 = 0u; k_1 < 8u; k_1++) {
            if data[k_1] == t {
                result_1 = k_1;
                break;
            }
            switch k_1 {
                case 3u: {
                    if t > 100u {
                        result_1 = 77u;
                        returned_1 = true;
                        break;
                    }
                }
                case 5u: {
                    result_1 = 55u;
                    returned_1 = true;
                }
                default: {}
            }
            if returned_1 {
                break;
            }
            data[k_1]++;
        }
        let t_2 = 200u - n;
        var returned: bool;
        var result = 99u;
        let t_3 = result_1;
        for (var k = 0u; k < 8u; k++) {
            if data[k] == t_2 {
                result = k;
                break;
            }
            switch k {
                case 3u: {
                    if t_2 > 100u {
                        result = 77u;
                        returned = true;
                        break;
                    }
                }
                case 5u: {
                    result = 55u;
                    returned = true;
                }
                default: {}
            }
            if returned {
                break;
            }
            data[k]++;
        }
        *t_1 = t_3 + result;
    }
}
