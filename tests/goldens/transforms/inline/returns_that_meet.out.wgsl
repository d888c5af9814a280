@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var q = i * 3u;
    let t = q & 3u;
    var returned_3: bool;
    var result_3: u32;
    if i > 1u {
        if t > 1u {
            if i == 3u {
                result_3 = 1u;
                returned_3 = true;
            } else {
                data[20]++;
            }
        }
        if !returned_3 {
            data[21] += i;
            if t == 3u {
                result_3 = 7u;
                returned_3 = true;
            }
        }
    } else if i == 1u {
        result_3 = 9u;
        returned_3 = true;
    }
    if !returned_3 {
        data[22]++;
        result_3 = i + t;
    }
    data[i + 8u] = result_3;
    var returned_2: bool;
    var result_2: u32;
    switch i {
        case 0u: {
            result_2 = 3u;
        }
        case 1u, 2u: {
            if data[1] > 3u {
                result_2 = 4u;
            } else {
                result_2 = 5u;
            }
        }
        default: {
            for (var i_3 = 0u; i_3 < i; i_3++) {
                if data[i_3] == i_3 {
                    result_2 = i_3;
                    returned_2 = true;
                    break;
                }
            }
            if returned_2 {
                break;
            }
            result_2 = 40u;
        }
    }
    var returned_1: bool;
    var result_1: u32;
    var total = 0u;
    var i_2 = 0u;
    let t_1 = result_2;
    while i_2 < i {
        for (var j = 0u; j < i; j++) {
            if data[i_2] + data[j] == 7u {
                result_1 = i_2 * 10u + j;
                returned_1 = true;
                break;
            }
            total++;
        }
        if returned_1 {
            break;
        }
        loop {
            total++;
            if total > 30u {
                result_1 = total;
                returned_1 = true;
                break;
            }
            if (total & 3u) == 0u {
                break;
            }
        }
        if returned_1 {
            break;
        }
        loop {
            if data[i_2] > 5u {
                result_1 = 1u;
                returned_1 = true;
                break;
            }
            result_1 = total;
            returned_1 = true;
            break;
        }
        break;
    }
    if !returned_1 {
        result_1 = total;
    }
    data[i + 12u] = t_1 + result_1;
    var returned: bool;
    if q == 2u {
        q = 3u;
    } else {
        while q < 40u {
            q = q * 2u + 1u;
            if q == 15u {
                returned = true;
                break;
            }
            switch q {
                case 23u: {
                    returned = true;
                }
                case 11u, default: {
                    continue;
                }
            }
            break;
        }
        if !returned {
            q++;
        }
    }
    let t_2 = q;
    var result: vec2u;
    if t_2 == 3u {
        result = vec2u(0u);
    } else {
        var i_1 = 0u;
        loop {
            if i_1 * i_1 > t_2 {
                result = vec2u(i_1, t_2);
                break;
            }
            continuing {
                i_1++;
            }
        }
    }
    let v = result;
    data[i + 16u] = v.x + v.y;
}
