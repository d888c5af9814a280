@group(0) @binding(0) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(1)
fn main() {
    let n = out[0];
    for (var i = 0; i < n; i++) {
        out[i] = i;
    }
    var j = n;
    while j > 0 {
        j -= 2;
        if j == 5 {
            continue;
        }
        out[j]--;
    }
    while j < 10 {
        j++;
    }
    var k = 0;
    k = 3;
    for (; k < n; k = k * 2 + 1) {}
    while k != 3 {
        k++;
    }
    loop {
        k--;
        let before = k;
        if k < 2 {
            continue;
        }
        if k == 77 {
            return;
        }
        continuing {
            k -= before;
            out[0] = k;
            break if k < 0;
        }
    }
    var a = 0;
    loop {
        let step = a;
        if out[a] == step {
            break;
        }
        continuing {
            a++;
        }
    }
    for (var x = 0; x < 4; x++) {
        for (var x_1 = 0; x_1 < 4; x_1++) {
            if x_1 == 2 {
                break;
            }
        }
    }
}

fn next() -> u32 {
    return 1u;
}

fn a_declaration_before_what_it_could_notice(p: ptr<function, u32>) -> u32 {
    var i = *p;
    var sum = next();
    for (; i < 10u; i++) {
        sum += i;
    }
    let first = sum;
    for (var k = 0; k < 3; k++) {
        sum *= first;
    }
    return sum;
}

fn ways_on_that_go_without_saying(x: i32) -> i32 {
    var y = x;
    for (var i = 0; i < x; i++) {
        if i == y {
            y++;
        } else {
            y += 2;
        }
    }
    switch x {
        case 1: {
            if y > 2 {
                y = 3;
            } else {
                y = 4;
            }
        }
        default: {
            if y > 5 {
                break;
            }
            y = 6;
        }
    }
    return y;
}
