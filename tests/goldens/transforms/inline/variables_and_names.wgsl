// passes: inline
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

fn sum(n: u32) -> u32 {
    var total: u32;
    for (var k = 0u; k < n; k++) { total += k; }
    return total;
}
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var total = 1u;
    for (var k = 0u; k < 3; k++) { total += sum(k + i); }
    data[i] = total;
}
