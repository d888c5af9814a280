// passes: remove_continue_in_switch
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    for (var k = 0u; k < 5; k++) {
        switch k {
            case 1: { continue; }
            case 2: {
                switch i { case 0: { data[4] = 1; continue; } default: { data[5] = k; } }
                data[6] = k;
            }
            default: { if i == 2 { continue; } }
        }
        data[i] += k;
    }
}
