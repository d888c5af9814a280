@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    for (var k = 0u; k < 3u; k++) {
        var goes_on: bool;
        switch k {
            case 1u: {
                data[0] = 1u;
                goes_on = true;
            }
            default: {
                goes_on = true;
            }
        }
    }
}
