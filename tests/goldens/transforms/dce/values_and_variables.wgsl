// passes: dce
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

fn pure_(x: u32) -> u32 { return x * 3; }
fn unused(x: u32) -> u32 { return x; }
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let dead = i * 7;
    var written = 0u;
    written = pure_(i);
    _ = pure_(i + 1);
    if i > 2 { written += 1; } else { written = 3; }
    switch i { case 1: { let n = dead; } default: {} }
    data[i] = i;
}
