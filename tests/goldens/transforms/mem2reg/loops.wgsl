// passes: mem2reg
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var total = 0u;
    for (var k = 0u; k < i + 2; k++) {
        if k == 3 { continue; }
        if k == 5 { break; }
        total += k;
    }
    data[i] = total;
}
