// passes: mem2reg,reg2mem
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var a = 0u;
    var b = 1u;
    for (var k = 0u; k < i + 3; k++) {
        let t = a;
        a = b;
        b = t + k;
    }
    data[i] = select(a, b, i > 1);
}
