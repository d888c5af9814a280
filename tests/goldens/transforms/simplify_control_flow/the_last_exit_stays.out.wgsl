@group(0) @binding(0) var<storage, read_write> data: array<u32>;

fn never() {
    while true {
        data[3] = 1u;
    }
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    if i > 50u {
        never();
    }
    var k = 0u;
    loop {
        k++;
        if k > 5u {
            data[0] = k;
            return;
        }
    }
}
