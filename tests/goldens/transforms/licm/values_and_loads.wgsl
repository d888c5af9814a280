// passes: licm
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<storage> weights: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var local = 5u;
    var sum = 0u;
    for (var k = 0u; k < n % 8 + 2; k++) {
        let scale = i * 3 + weights[i] + local;
        for (var j = 0u; j < 3; j++) { sum += scale * (i ^ 7) + data[k]; }
        if sum > 100 { local = 6; }
    }
    data[i] = sum;
}
