struct modf_result_f32 {
    fract: f32,
    whole: f32,
}

struct frexp_result_vec2_f32 {
    fract: vec2f,
    exp: vec2i,
}

var<private> split: modf_result_f32 = modf_result_f32(-0.75, -2.0);
var<private> pair: array<frexp_result_vec2_f32, 2> = array<frexp_result_vec2_f32, 2>(frexp_result_vec2_f32(vec2f(0.75, 0.5), vec2i(2, 0)), frexp_result_vec2_f32(vec2f(0.5), vec2i(4, 1)));
@group(0) @binding(0) var<storage, read_write> data: array<vec2f, 4>;

@compute @workgroup_size(1)
fn main() {
    data[0] = vec2f(split.fract, split.whole);
    let t = modf(data[1].x);
    split = modf_result_f32(t.fract, t.whole);
    let t_1 = frexp(data[1]);
    pair[1] = frexp_result_vec2_f32(t_1.fract, t_1.exp);
    data[2] = vec2f(split.whole, pair[1].fract.y) + pair[0].fract;
    data[3] = modf(data[1]).whole;
}
