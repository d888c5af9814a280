// passes: simplify_control_flow
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    if true { data[0] = 1; } else { data[1] = 1; }
    switch 2 { case 1, 2: { data[2] = i; } default: { data[3] = 1; } }
    switch i { default: { data[6] = 2; } }
    loop { data[4] = i; break; }
    if i > 2 {} else {}
    if false { return; }
    data[5] = 1;
}
