@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let t = data[i];
    var x: u32;
    var v: vec2u;
    if t > 3u {
        x = 7u;
        v = vec2u(1u, 7u);
    } else {
        x = t;
        v = vec2u(1u, 2u);
    }
    var x_1: u32;
    var v_1: vec2u;
    switch i {
        case 0u: {
            x_1 = x + 1u;
            v_1 = v;
        }
        case 1u: {
            if x > 1u {
                x_1 = x;
                v_1 = v;
                break;
            }
            x_1 = 9u;
            v_1 = v;
        }
        default: {
            x_1 = x;
            v_1 = vec2u(5u, v.y);
        }
    }
    data[i] = x_1 + v_1.x * v_1.y;
}
