// passes: replicate_loops{n=2}
// continue in an If and in a Switch, break, and return
@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    var i = 0u;
    while i < data[0] + 5 {
        i++;
        if (i & 1) == 1 {
            continue;
        }
        data[1] += i;
        switch i & 3 {
            case 0: {
                continue;
            }
            case 2: {
                data[2] += i;
            }
            default: {
                break;
            }
        }
        if data[2] > 9 {
            break;
        }
        if data[1] > 40 {
            return;
        }
        data[3] += data[1];
    }
    data[4] += i;
}
