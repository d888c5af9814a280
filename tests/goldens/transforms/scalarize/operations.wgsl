// passes: scalarize
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let v = vec3(i, data[i], 7u);
    let f = vec2f(v.xy) * 2.0;
    data[0] = dot(min(v, v.zyx) * 3 + v, vec3(1));
    data[1] = u32(any(f > vec2(3.0))) + u32((-f).x);
}
