// passes: remove_continue_in_switch
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    for (var k = 0u; k < 3; k++) {
        switch k { case 1: { data[0] = 1; continue; } default: { continue; } }
    }
}
