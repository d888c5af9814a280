// passes: naga_dialect
// frexp of f16 is one of f32, and its results have types with names; a constant, an array of results
enable f16;
@group(0) @binding(0) var<storage, read_write> data: array<vec2h, 4>;

@compute @workgroup_size(1)
fn main() {
    var split = frexp(data[0]);
    split.fract.x += frexp(data[0].x).fract;
    data[1] = ldexp(split.fract, split.exp);
    const constant = frexp(3h);
    var changed = constant;
    changed.exp += 1;
    data[2] = vec2h(changed.fract, f16(changed.exp));
    let all = array(frexp(data[0].x), frexp(data[0].y));
    data[3] = vec2h(all[0].fract, all[1].fract);
}
