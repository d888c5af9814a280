// passes: mem2reg,unroll
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var k = 0u;
    var sum = i;
    loop {
        sum = sum * 3 + k;
        continuing { k += 2; break if k >= 5; }
    }
    data[i] = sum + k;
}
