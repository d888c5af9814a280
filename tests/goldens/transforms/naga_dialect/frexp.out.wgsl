enable f16;

struct frexp_result_vec2_f16 {
    fract: vec2h,
    exp: vec2i,
}

struct frexp_result_f16 {
    fract: f16,
    exp: i32,
}

@group(0) @binding(0) var<storage, read_write> data: array<vec2h, 4>;

@compute @workgroup_size(1)
fn main() {
    let t = frexp(vec2f(data[0]));
    var split = frexp_result_vec2_f16(vec2h(t.fract), t.exp);
    let t_1 = frexp(f32(data[0].x));
    split.fract.x += frexp_result_f16(f16(t_1.fract), t_1.exp).fract;
    data[1] = ldexp(split.fract, split.exp);
    var changed = frexp_result_f16(0.75h, 2);
    changed.exp++;
    data[2] = vec2h(changed.fract, f16(changed.exp));
    let t_2 = frexp(f32(data[0].x));
    let t_3 = frexp(f32(data[0].y));
    let all = array<frexp_result_f16, 2>(frexp_result_f16(f16(t_2.fract), t_2.exp), frexp_result_f16(f16(t_3.fract), t_3.exp));
    data[3] = vec2h(all[0].fract, all[1].fract);
}
