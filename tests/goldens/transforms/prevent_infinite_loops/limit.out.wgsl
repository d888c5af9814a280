@group(0) @binding(0) var<storage, read_write> data: array<u32>;

fn value() -> u32 {
    var rounds: u32;
    loop {
        let t = rounds;
        if t == 10u {
            break;
        }
        rounds = t + 1u;
        if data[0] > 3u {
            return data[1];
        }
        data[0]++;
    }
    return 0u;
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var rounds: u32;
    loop {
        let t = rounds;
        if t == 10u {
            break;
        }
        rounds = t + 1u;
        data[i] = value();
        if data[2] > 0u {
            break;
        }
    }
}
