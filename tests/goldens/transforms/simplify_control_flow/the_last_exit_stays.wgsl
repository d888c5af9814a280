// passes: simplify_control_flow
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

fn never() {
    loop { if false { break; } if true { data[3] = 1; } }
}
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    if i > 50 { never(); }
    var k = 0u;
    loop {
        k += 1;
        if k > 5 { data[0] = k; return; }
        if false { break; }
    }
}
