// passes: replicate_loops{n=3}
// each copy tests the condition; the loop around gets few copies, as far as the size allows
@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    for (var i = 0u; i < data[0]; i++) {
        data[1] += i * data[2];
        for (var j = 1u; j < i; j += 2) {
            data[3] ^= j << i;
        }
    }
}
