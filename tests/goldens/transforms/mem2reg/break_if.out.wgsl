@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var a: u32;
    var b: u32;
    var a_1 = 0u;
    var b_1 = 1u;
    loop {
        let t = a_1 + b_1;
        continuing {
            data[7] = t;
            let leave = t > 20u + i;
            if leave {
                a = b_1;
                b = t;
            } else {
                a_1 = b_1;
                b_1 = t;
            }
            break if leave;
        }
    }
    data[i] = a;
}
