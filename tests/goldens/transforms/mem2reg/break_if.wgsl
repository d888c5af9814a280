// passes: mem2reg
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var a = 0u;
    var b = 1u;
    loop {
        let t = a + b;
        a = b;
        b = t;
        continuing { data[7] = t; break if b > 20 + i; }
    }
    data[i] = a;
}
