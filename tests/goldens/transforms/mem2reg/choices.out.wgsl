@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var x = data[i];
    var v: vec2u;
    if x > 3u {
        x = 7u;
        v = vec2u(1u, 7u);
    } else {
        v = vec2u(1u, 2u);
    }
    var x_1: u32;
    switch i {
        case 0u: {
            x_1 = x + 1u;
        }
        case 1u: {
            if x > 1u {
                x_1 = x;
                break;
            }
            x_1 = 9u;
        }
        default: {
            v = vec2u(5u, v.y);
            x_1 = x;
        }
    }
    data[i] = x_1 + v.x * v.y;
}
