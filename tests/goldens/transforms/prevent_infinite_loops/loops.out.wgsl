@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var k = 0u;
    var rounds: u32;
    loop {
        let t = rounds;
        if t == 4294967295u {
            break;
        }
        rounds = t + 1u;
        if !(k < i) {
            break;
        }
        data[k]++;
        continuing {
            k++;
        }
    }
    var rounds_1: u32;
    loop {
        let t_1 = rounds_1;
        if t_1 == 4294967295u {
            break;
        }
        rounds_1 = t_1 + 1u;
        if data[0] > 3u {
            return;
        }
        data[0]++;
    }
}
