// passes: widen_bools
struct Cell {
    flags: array<bool, 3>,
    weight: f32,
    corner: vec3<bool>,
    inner: Inner,
}

struct Inner {
    one: bool,
    other: u32,
}

struct Plain {
    weight: f32,
}

@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> single: bool;
var<workgroup> flags: array<bool, 64>;
var<workgroup> triples: array<vec3<bool>, 4>;
var<workgroup> rows: array<array<bool, 4>, 3>;
var<workgroup> cells: array<Cell, 2>;
var<workgroup> plain: array<Plain, 2>;
var<private> own: array<bool, 64>;

fn flip(place: ptr<workgroup, bool>) {
    *place = !*place;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    flags[lane] = lane % 3 == 0;
    own[lane] = true;
    plain[lane % 2] = Plain(1.5);
    if lane == 0 {
        single = true;
        triples[1] = vec3<bool>(true, false, true);
        triples[2].y = flags[0] && own[0];
        rows[1] = array<bool, 4>(true, false, true, true);
        rows[2] = array<bool, 4>();
        cells[0] = Cell(array<bool, 3>(true, false, single), 0.5, vec3<bool>(single), Inner(true, 7));
        cells[1].inner.one = cells[0].corner.z;
        flip(&cells[0].flags[1]);
    }
    workgroupBarrier();
    if workgroupUniformLoad(&single) {
        let copies = rows;
        let row = workgroupUniformLoad(&rows[1]);
        let cell = cells[0];
        let triple = triples[1];
        out[lane] = u32(flags[lane]) + select(0u, 2u, copies[1][lane % 4]) + select(0u, 4u, row[lane % 4])
            + select(0u, 8u, cell.flags[lane % 3]) + select(0u, 16u, cell.inner.one) + cell.inner.other * 32
            + select(0u, 1024u, any(triple & triples[2])) + u32(cells[1].inner.one) * 4096 + u32(plain[0].weight);
    }
}
