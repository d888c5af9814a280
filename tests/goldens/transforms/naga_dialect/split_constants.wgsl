// passes: naga_dialect
// a variable of the module begins with a result of modf, which naga does not evaluate; other results stay
var<private> split = modf(-2.75);
var<private> pair = array(frexp(vec2f(3, 0.5)), frexp(vec2f(8, 1)));
@group(0) @binding(0) var<storage, read_write> data: array<vec2f, 4>;

@compute @workgroup_size(1)
fn main() {
    data[0] = vec2f(split.fract, split.whole);
    split = modf(data[1].x);
    pair[1] = frexp(data[1]);
    data[2] = vec2f(split.whole, pair[1].fract.y) + pair[0].fract;
    data[3] = modf(data[1]).whole;
}
