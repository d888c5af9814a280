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
