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
    for (; j < 10;) {
        j += 1;
    }
    var k = 0;
    for (k = 3; k < n; k = k * 2 + 1) {
    }
    loop {
        if k == 3 {
            break;
        }
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
    for (var a = 0; ; a++) {
        let step = a;
        if out[a] == step {
            break;
        }
    }
    for (var x = 0; x < 4; x++) {
        for (var x = 0; x < 4; x++) {
            if x == 2 {
                break;
            }
        }
    }
}
