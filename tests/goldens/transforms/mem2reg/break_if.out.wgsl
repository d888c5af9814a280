@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var a = 0u;
    var b = 1u;
    loop {
        let t = a + b;
        continuing {
            data[7] = t;
            let leave = t > 20u + i;
            if !leave {
                a = b;
                b = t;
            }
            break if leave;
        }
    }
    data[i] = b;
}
