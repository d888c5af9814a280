@group(0) @binding(0) var<storage, read_write> out: array<i32>;

fn f(x: i32) -> bool {
    out[0] += x;
    return x > 2;
}

fn sign_of(x: i32) -> i32 {
    if x < 0 {
        return -1;
    } else if x == 0 {
        return 0;
    } else {
        return 1;
    }
}

@compute @workgroup_size(1)
fn main() {
    let a = out[1];
    let both = f(a) && f(a + 1);
    if both || (a == 3 && f(2)) {
        out[2] = 1;
    }
    if a != 4 {
        out[3] = 1;
    }
    if !both {
        out[4] = sign_of(a);
    }
    switch a {
        case 1, 2, default: {
            out[5] = 1;
        }
        case 3: {
            if f(3) {
                break;
            }
            out[5] = 2;
        }
    }
    var late = out[6] == 1 && out[7] == 2 && f(4);
    late = late || f(5);
    if f(6) {
        f(7);
    }
}

fn known_on_both_sides() -> i32 {
    if true {
        return 1;
    }
    return 2;
}
