// passes: mem2reg,unroll
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    var sum = 0u;
    for (var k = 0u; k < 3; k++) {
        if data[k] > 2 { sum += k; } else { data[k] += i; }
    }
    for (var k = 10i; k > 0; k -= 4) { sum = sum * 2 + u32(k); }
    data[i] = sum;
}
