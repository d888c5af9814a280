// passes: preserve_padding
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

struct Padded { a: u32, v: vec3u, m: mat2x3f }
struct Whole { a: u32, b: u32 }
@group(0) @binding(1) var<storage, read_write> one: Padded;
@group(0) @binding(2) var<storage, read_write> many: array<Padded, 2>;
@group(0) @binding(3) var<storage, read_write> long: array<vec3u, 20>;
@group(0) @binding(4) var<storage, read_write> whole: Whole;
@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    let p = Padded(i, vec3(1, 2, 3), mat2x3f(1, 2, 3, 4, 5, 6));
    one = p;
    many = array(p, Padded());
    var l: array<vec3u, 20>;
    l[3] = vec3(i);
    long = l;
    whole = Whole(i, 2);
    data[i] = one.v.y + long[3].x;
}
