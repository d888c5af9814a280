@group(0) @binding(0) var<storage, read_write> o: array<u32>;
var<private> n: u32;

fn next() -> u32 {
    let t = n;
    n = t + 1u;
    return t;
}

@compute @workgroup_size(1)
fn same_value() {
    var x = o[0];
    next();
    o[1] = x;
}

@compute @workgroup_size(1)
fn short_circuit() {
    var x = o[0];
    if !(next() > 3u) {
        next();
    }
    o[1] = x;
}
