@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(1)
fn main() {
    for (var n = 0u; n < 3u; n++) {
        let t = n + 2u;
        var v: bool;
        var v_1: u32;
        let t_1 = &data[8u + n];
        var t_2: u32;
        loop {
            for (var k_1 = 0u; k_1 < 8u; k_1++) {
                if data[k_1] == t {
                    v_1 = k_1;
                    v = true;
                    break;
                }
                switch k_1 {
                    case 3u: {
                        if t > 100u {
                            v_1 = 77u;
                            v = true;
                            break;
                        }
                    }
                    case 5u: {
                        v_1 = 55u;
                        v = true;
                    }
                    default: {}
                }
                if v {
                    break;
                }
                data[k_1]++;
            }
            if v {
                t_2 = v_1;
                break;
            }
            t_2 = 99u;
            break;
        }
        let t_3 = 200u - n;
        var v_2: bool;
        var v_3: u32;
        var t_4: u32;
        loop {
            for (var k = 0u; k < 8u; k++) {
                if data[k] == t_3 {
                    v_3 = k;
                    v_2 = true;
                    break;
                }
                switch k {
                    case 3u: {
                        if t_3 > 100u {
                            v_3 = 77u;
                            v_2 = true;
                            break;
                        }
                    }
                    case 5u: {
                        v_3 = 55u;
                        v_2 = true;
                    }
                    default: {}
                }
                if v_2 {
                    break;
                }
                data[k]++;
            }
            if v_2 {
                t_4 = v_3;
                break;
            }
            t_4 = 99u;
            break;
        }
        *t_1 = t_2 + t_4;
    }
}
