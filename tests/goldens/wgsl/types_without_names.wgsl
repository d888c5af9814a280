@group(0) @binding(0) var<storage, read_write> p: array<f32>;
var<private> parts = frexp(1.5);

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var both = array(frexp(1.5f), frexp(p[0]));
    p[1] = both[id.x].fract + parts.fract;
    const table = array(modf(1.5f), modf(2.5f));
    p[2] = table[id.x].fract;
    let zeros = array(frexp(0.0f), frexp(0.0f));
    p[2] = zeros[id.x].fract;
    let nested = array(array(modf(p[2])));
    p[3] = nested[0][id.y].whole;
}
