@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    var i = 0u;
    loop {
        var returned: bool;
        if !(i < data[0] + 5u) {
            break;
        }
        i++;
        if (i & 1u) != 1u {
            data[1] += i;
            switch i & 3u {
                case 0u: {
                    returned = true;
                }
                case 2u: {
                    data[2] += i;
                }
                default: {}
            }
            if !returned {
                if data[2] > 9u {
                    break;
                }
                if data[1] > 40u {
                    return;
                }
                data[3] += data[1];
            }
        }
        if !(i < data[0] + 5u) {
            break;
        }
        i++;
        if (i & 1u) == 1u {
            continue;
        }
        data[1] += i;
        switch i & 3u {
            case 0u: {
                continue;
            }
            case 2u: {
                data[2] += i;
            }
            default: {}
        }
        if data[2] > 9u {
            break;
        }
        if data[1] > 40u {
            return;
        }
        data[3] += data[1];
    }
    data[4] += i;
}
