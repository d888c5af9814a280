// passes: mem2reg, replicate_loops{n=3}
// values carried from turn to turn pass through the copies
@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    var a = 0u;
    var b = 1u;
    for (var i = 0u; i < data[0] + 4; i++) {
        let c = a + b;
        a = b;
        b = c;
    }
    data[1] = a;
    data[2] = b;
}
