@group(0) @binding(0) var<storage, read_write> data: array<u32>;

const table = array<u32, 3>(10u, 20u, 30u);

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    data[0] = 3705032711u;
    data[1] = 4u;
    data[2] = table[(i & 0u) + 2u] + 30u;
    var t = 0.0;
    data[3] = bitcast<u32>(1.5 / t);
    data[4] = data[4294967295u];
    if true {
        data[5] = 1u;
    }
}
