@group(0) @binding(0) var<storage, read_write> pairs: array<vec2f, 2>;

@compute @workgroup_size(1)
fn main() {
    var word = 1065369472u;
    let t = word;
    pairs[0] = vec2f(unpack2x16float(t).x, unpack2x16float(t >> 16u).x);
    let t_1 = bitcast<u32>(pairs[0].x) & 2080340991u;
    pairs[1] = vec2f(unpack2x16float(t_1).x, unpack2x16float(t_1 >> 16u).x).yx;
}
