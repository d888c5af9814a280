struct Padded {
    a: u32,
    v: vec3u,
    m: mat2x3f,
}

struct Whole {
    a: u32,
    b: u32,
}

@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> one: Padded;
@group(0) @binding(2) var<storage, read_write> many: array<Padded, 2>;
@group(0) @binding(3) var<storage, read_write> long: array<vec3u, 20>;
@group(0) @binding(4) var<storage, read_write> whole: Whole;

@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    let p = Padded(i, vec3u(1u, 2u, 3u), mat2x3f(vec3f(1.0, 2.0, 3.0), vec3f(4.0, 5.0, 6.0)));
    one.a = p.a;
    one.v = p.v;
    let m = p.m;
    one.m[0u] = m[0u];
    one.m[1u] = m[1u];
    let t = array<Padded, 2>(p, Padded());
    let t_1 = t[0u];
    many[0u].a = t_1.a;
    many[0u].v = t_1.v;
    let m_1 = t_1.m;
    many[0u].m[0u] = m_1[0u];
    many[0u].m[1u] = m_1[1u];
    let t_2 = t[1u];
    many[1u].a = t_2.a;
    many[1u].v = t_2.v;
    let m_2 = t_2.m;
    many[1u].m[0u] = m_2[0u];
    many[1u].m[1u] = m_2[1u];
    var l: array<vec3u, 20>;
    l[3] = vec3u(i);
    let t_3 = l;
    for (var t_4 = 0u; t_4 < 20u; t_4++) {
        long[t_4] = t_3[t_4];
    }
    whole = Whole(i, 2u);
    data[i] = one.v.y + long[3].x;
}
