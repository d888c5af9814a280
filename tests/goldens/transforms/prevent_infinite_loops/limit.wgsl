// passes: prevent_infinite_loops{limit=10}
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

fn value() -> u32 { loop { if data[0] > 3 { return data[1]; } data[0] += 1; } }
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    loop { data[i] = value(); if data[2] > 0 { break; } }
}
