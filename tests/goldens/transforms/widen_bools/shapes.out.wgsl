struct Inner {
    one: bool,
    other: u32,
}

struct Cell {
    flags: array<bool, 3>,
    weight: f32,
    corner: vec3<bool>,
    inner: Inner,
}

struct Plain {
    weight: f32,
}

struct Inner_words {
    one: u32,
    other: u32,
}

struct Cell_words {
    flags: array<u32, 3>,
    weight: f32,
    corner: vec3u,
    inner: Inner_words,
}

@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> single: u32;
var<workgroup> flags: array<u32, 64>;
var<workgroup> triples: array<vec3u, 4>;
var<workgroup> rows: array<array<u32, 4>, 3>;
var<workgroup> cells: array<Cell_words, 2>;
var<workgroup> plain: array<Plain, 2>;
var<private> own: array<bool, 64>;

fn words_of_array(given: array<bool, 3>) -> array<u32, 3> {
    var before = given;
    var after: array<u32, 3>;
    for (var i = 0u; i < 3u; i++) {
        let t = i;
        after[t] = u32(before[t]);
    }
    return after;
}

fn bools_of_array_1(given: array<u32, 4>) -> array<bool, 4> {
    var before = given;
    var after: array<bool, 4>;
    for (var i = 0u; i < 4u; i++) {
        let t = i;
        after[t] = before[t] != 0u;
    }
    return after;
}

fn bools_of_array(given: array<array<u32, 4>, 3>) -> array<array<bool, 4>, 3> {
    var before = given;
    var after: array<array<bool, 4>, 3>;
    for (var i = 0u; i < 3u; i++) {
        let t = i;
        after[t] = bools_of_array_1(before[t]);
    }
    return after;
}

fn bools_of_array_2(given: array<u32, 3>) -> array<bool, 3> {
    var before = given;
    var after: array<bool, 3>;
    for (var i = 0u; i < 3u; i++) {
        let t = i;
        after[t] = before[t] != 0u;
    }
    return after;
}

fn flip(place: ptr<workgroup, u32>) {
    *place = u32(!(*place != 0u));
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    flags[lane] = u32(lane % 3u == 0u);
    own[lane] = true;
    plain[lane % 2u] = Plain(1.5);
    if lane == 0u {
        single = 1u;
        triples[1] = vec3u(1u, 0u, 1u);
        triples[2].y = u32(flags[0] != 0u && own[0]);
        rows[1] = array<u32, 4>(1u, 0u, 1u, 1u);
        rows[2] = array<u32, 4>();
        let t = Cell(array<bool, 3>(true, false, single != 0u), 0.5, vec3<bool>(single != 0u), Inner(true, 7u));
        let inner = t.inner;
        cells[0] = Cell_words(words_of_array(t.flags), t.weight, vec3u(t.corner), Inner_words(u32(inner.one), inner.other));
        cells[1].inner.one = u32(cells[0].corner.z != 0u);
        flip(&cells[0].flags[1]);
    }
    workgroupBarrier();
    if workgroupUniformLoad(&single) != 0u {
        let copies = bools_of_array(rows);
        let row = bools_of_array_1(workgroupUniformLoad(&rows[1]));
        let t_1 = cells[0];
        let inner_1 = t_1.inner;
        let cell = Cell(bools_of_array_2(t_1.flags), t_1.weight, t_1.corner != vec3u(0u), Inner(inner_1.one != 0u, inner_1.other));
        let triple = triples[1] != vec3u(0u);
        out[lane] = u32(flags[lane] != 0u) + select(0u, 2u, copies[1][lane % 4u]) + select(0u, 4u, row[lane % 4u]) + select(0u, 8u, cell.flags[lane % 3u]) + select(0u, 16u, cell.inner.one) + cell.inner.other * 32u + select(0u, 1024u, any(triple & (triples[2] != vec3u(0u)))) + u32(cells[1].inner.one != 0u) * 4096u + u32(plain[0].weight);
    }
}
