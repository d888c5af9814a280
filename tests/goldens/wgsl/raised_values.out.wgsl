@group(0) @binding(0) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(1u)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let t = id.x;
    let t_1 = i32(t);
    var x: i32;
    var t_2: i32;
    if t_1 < 5 {
        x = t_1;
        t_2 = 3;
    } else {
        x = t_1 * 2;
        t_2 = 4;
    }
    var t_3 = 8;
    if x > 3 {
        t_3 = 7;
    }
    var r: i32;
    var a = 0;
    var b = 1;
    loop {
        if !(a < 10) {
            r = b;
            break;
        }
        continuing {
            let t_4 = a + b;
            a = b;
            b = t_4;
        }
    }
    var s: i32;
    var k = 0;
    loop {
        continuing {
            let t_5 = k + 1;
            let leave = t_5 > t_2;
            if leave {
                s = t_5;
            } else {
                k = t_5;
            }
            break if leave;
        }
    }
    var t_6 = 0;
    out[t] = (r + s + t_3) / t_6;
}
