@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    var i = 0u;
    var kept: u32;
    var sum: u32;
    var j: u32;
    var state: u32;
    var left: bool;
    loop {
        if state == 0u {
            if !(i < data[0] + 4u) {
                break;
            }
            let base = data[1] * i;
            kept = base;
            sum = 3u;
            if i == 1u {
                state = 0u;
                continue;
            }
            j = 0u;
            state = 1u;
        }
        if state == 1u {
            left = false;
            var returned: bool;
            if j < i + data[2] {
                if (j & 1u) != 1u {
                    if j > 5u {
                        left = true;
                        returned = true;
                    } else {
                        sum += kept + j;
                    }
                }
                if !returned {
                    j++;
                }
            } else {
                left = true;
            }
            if left {
                data[3] += sum;
                if data[3] > 60u {
                    break;
                }
                state = 0u;
                continue;
            }
        }
        continuing {
            if state == 0u {
                i++;
            }
        }
    }
}
