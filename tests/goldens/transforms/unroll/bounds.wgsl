// passes: mem2reg,unroll{n=2}
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    var sum = 0u;
    for (var k = 0u; k < 3; k++) { sum += k; }
    for (var k = 0u; k < 2; k++) { sum += data[k]; }
    for (var k = 0u; k < 2; k++) { if sum > 5 { break; } sum += 9; }
    for (var k = 0u; k < i; k++) { sum += k; }
    data[i] = sum;
}
