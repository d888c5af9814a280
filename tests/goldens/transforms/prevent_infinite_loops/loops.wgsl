// passes: prevent_infinite_loops
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    for (var k = 0u; k < i; k++) { data[k] += 1; }
    loop { if data[0] > 3 { return; } data[0] += 1; }
}
