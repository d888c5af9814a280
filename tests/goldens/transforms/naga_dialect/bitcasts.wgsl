// passes: naga_dialect
// bitcasts between f16 vectors and 32-bit types; those within one width stay, and `requires` goes
enable f16;
requires pointer_composite_access;
@group(0) @binding(0) var<storage, read_write> words: array<u32, 16>;
@group(0) @binding(1) var<storage, read_write> pairs: array<vec2f, 4>;

@compute @workgroup_size(1)
fn main() {
    let two = bitcast<vec2h>(words[0] & 0xbfffbfff);
    words[1] = bitcast<u32>(two + vec2h(1, 2));
    let four = bitcast<vec4h>(bitcast<vec2i>(vec2u(words[2], words[3]) & vec2(0xbfffbfff)));
    words[4] = u32(four.x + four.w);
    pairs[0] = bitcast<vec2f>(four.wzyx * 0.5h);
    pairs[1] = vec2f(bitcast<vec2h>(f32(words[5] & 3)) + vec2h(1));
    pairs[2] = bitcast<vec2f>(vec2u(words[6], words[7]) & vec2(0x3fffffff));
}
