enable f16;

@group(0) @binding(0) var<storage, read_write> words: array<u32, 16>;
@group(0) @binding(1) var<storage, read_write> pairs: array<vec2f, 4>;

@compute @workgroup_size(1)
fn main() {
    let two = vec2h(unpack2x16float(words[0] & 3221209087u));
    words[1] = pack2x16float(vec2f(two + vec2h(1.0h, 2.0h)));
    let t = bitcast<vec2u>(bitcast<vec2i>(vec2u(words[2], words[3]) & vec2u(3221209087u)));
    let four = vec4h(vec4f(unpack2x16float(t.x), unpack2x16float(t.y)));
    words[4] = u32(four.x + four.w);
    let t_1 = vec4f(four.wzyx * 0.5h);
    pairs[0] = bitcast<vec2f>(vec2u(pack2x16float(t_1.xy), pack2x16float(t_1.zw)));
    pairs[1] = vec2f(vec2h(unpack2x16float(bitcast<u32>(f32(words[5] & 3u)))) + vec2h(1.0h));
    pairs[2] = bitcast<vec2f>(vec2u(words[6], words[7]) & vec2u(1073741823u));
}
