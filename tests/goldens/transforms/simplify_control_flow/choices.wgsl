// passes: mem2reg,simplify_control_flow
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var x = data[i];
    if x > 3 { x = 2; }
    data[i] = x;
}
