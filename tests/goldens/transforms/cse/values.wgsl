// passes: cse
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = i * 3 + data[i];
    let b = i * 3 - data[i];
    if a > b { data[i] = (a - b) * (i * 3); } else { data[i] = (b - a) ^ (a - b); }
}
