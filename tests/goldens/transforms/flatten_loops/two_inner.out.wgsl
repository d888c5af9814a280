@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    var i = 0u;
    var low: u32;
    var kept: u32;
    var state: u32;
    var left: bool;
    var leaves: bool;
    loop {
        if state == 0u {
            low = data[0];
            state = 1u;
        }
        if state == 1u {
            left = false;
            if low > 1u {
                low /= 2u;
                data[1]++;
            } else {
                left = true;
            }
            if left {
                let middle = low + i;
                kept = middle;
                state = 2u;
            }
        }
        if state == 2u {
            left = false;
            low++;
            data[2] += kept;
            if low > 3u + i {
                left = true;
            }
            if left {
                data[3] += low;
                state = 0u;
                continue;
            }
        }
        continuing {
            if state == 0u {
                i++;
                if i + data[4] > 6u {
                    leaves = true;
                }
            }
            break if leaves;
        }
    }
}
