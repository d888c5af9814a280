// passes: inline
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

fn both_go_on(x: u32, y: u32) -> u32 {
    if x > 1 {
        if y > 1 { if x == 3 { return 1; } data[20] += 1; }
        data[21] += x;
        if y == 3 { return 7; }
    } else if x == 1 {
        return 9;
    }
    data[22] += 1;
    return x + y;
}
fn by_case(x: u32) -> u32 {
    switch x {
        case 0: { return 3; }
        case 1, 2: { if data[1] > 3 { return 4; } else { return 5; } }
        default: { for (var i = 0u; i < x; i++) { if data[i] == i { return i; } } return 40; }
    }
}
fn search(n: u32) -> u32 {
    var total = 0u;
    for (var i = 0u; i < n; i++) {
        for (var j = 0u; j < n; j++) { if data[i] + data[j] == 7 { return i * 10 + j; } total += 1; }
        loop { total += 1; if total > 30 { return total; } if (total & 3) == 0 { break; } }
        loop { if data[i] > 5 { return 1; } return total; }
    }
    return total;
}
fn no_value(p: ptr<function, u32>) {
    if *p == 2 { *p = 3; return; }
    while *p < 40 {
        *p = *p * 2 + 1;
        if *p == 15 { return; }
        switch *p { case 23: { return; } case 11, default: { continue; } }
    }
    *p += 1;
}
fn value_from_the_loop(x: u32) -> vec2u {
    if x == 3 { return vec2u(); }
    for (var i = 0u; ; i++) { if i * i > x { return vec2(i, x); } }
}
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var q = i * 3;
    data[i + 8] = both_go_on(i, q & 3);
    data[i + 12] = by_case(i) + search(i);
    no_value(&q);
    let v = value_from_the_loop(q);
    data[i + 16] = v.x + v.y;
}
