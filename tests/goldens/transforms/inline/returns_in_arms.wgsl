// passes: inline
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

fn sign_of(x: i32) -> i32 {
    if x < 0 { return -1; }
    if x == 0 { return 0; } else { data[7] = 1; }
    return 1;
}
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    data[i] = u32(sign_of(i32(i) - 2) + 5);
}
