@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage, read> weights: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var local = 5u;
    var sum = 0u;
    let t = n % 8u + 2u;
    let t_1 = i * 3u + weights[i];
    let t_2 = i ^ 7u;
    for (var k = 0u; k < t; k++) {
        let scale = t_1 + local;
        let t_3 = scale * t_2;
        let t_4 = k;
        for (var j = 0u; j < 3u; j++) {
            sum += t_3 + data[t_4];
        }
        if sum > 100u {
            local = 6u;
        }
    }
    data[i] = sum;
}
