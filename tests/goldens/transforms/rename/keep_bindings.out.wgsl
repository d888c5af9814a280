struct c {
    a: u32,
}

struct d {
    a: c,
    b: array<c, 2>,
}

@group(0) @binding(0) var<storage, read_write> data: array<u32>;

override scale: u32 = 3u;

var<private> a: u32;

fn b(e: d, f: u32) -> u32 {
    let t = e.a.a + e.b[1].a * f;
    a += t;
    return t;
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) e: u32) {
    var f = d(c(e), array<c, 2>(c(1u), c(2u)));
    f.b[0].a = scale;
    data[e] = b(f, 4u) + a;
}
