// A switch comes back as a switch: with several selectors, values that several cases use, nested, and with returns. One
// comes back as Ifs, since an arm leaves the loop around it.
@group(0) @binding(0) var<storage, read_write> data: array<i32>;

fn weight(kind: i32) -> i32 {
    switch kind {
        case -1: { return 10; }
        case 2, 4: { return 20; }
        case 3: { return data[1]; }
        default: { return 30; }
    }
}

fn steps(first: i32) -> i32 {
    var state = first;
    for (var i = 0; i < 6; i++) {
        let more = state * 3;
        switch state & 3 {
            case 0: {
                switch i % 3 {
                    case 0: { state += 1; }
                    case 1: { state += more; }
                    default: { state -= more; }
                }
            }
            case 1: { state = more + i; }
            case 2: {
                for (var j = 0; j < 3; j++) {
                    if state > 50 { break; }
                    state += j;
                }
            }
            default: { state = more >> 1; }
        }
    }
    return state;
}

fn until(first: i32) -> i32 {
    var state = first;
    loop {
        switch state & 7 {
            case 5: { state += 4; }
            case 2: { return state * 3; }
            case 1: { state += 9; }
            default: { state += 1; }
        }
    }
}

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let kind = data[id.x];
    switch kind {
        case 7: { data[id.x] = 1; }
        case 9: { data[id.x] = steps(kind); }
        case 6, 8: { data[id.x] = until(kind); }
        default: { data[id.x] = weight(kind); }
    }
}
