// passes: unpack_low_halves
// the upper half of a word is unpacked as a lower one
@group(0) @binding(0) var<storage, read_write> pairs: array<vec2f, 2>;

@compute @workgroup_size(1)
fn main() {
    var word = 0x3f803f80u;
    pairs[0] = unpack2x16float(word);
    pairs[1] = unpack2x16float(bitcast<u32>(pairs[0].x) & 0x7bff7bff).yx;
}
