struct Cell {
    count: atomic<u32>,
    weights: array<f32, 4>,
    rows: array<array<atomic<i32>, 2>, 3>,
}

struct Input {
    @builtin(local_invocation_index) index: u32,
}

@group(0) @binding(0) var<storage, read_write> out: array<f32>;
var<workgroup> total: atomic<u32>;
var<workgroup> flag: bool;
var<workgroup> exact: array<f32, 64>;
var<workgroup> few: array<vec3f, 10>;
var<workgroup> many: array<u32, 1000>;
var<workgroup> grid: array<array<f32, 16>, 16>;
var<workgroup> cells: array<Cell, 70>;
var<workgroup> unused: array<f32, 4>;

@compute @workgroup_size(8, 8)
fn main(input: Input) {
    let t = input.index;
    if t == 0u {
        atomicStore(&total, 0u);
    }
    if t == 0u {
        flag = false;
    }
    exact[t] = 0.0;
    if t < 10u {
        few[t] = vec3f(0.0);
    }
    for (var t_1 = t; t_1 < 1000u; t_1 += 64u) {
        many[t_1] = 0u;
    }
    for (var t_2 = t; t_2 < 256u; t_2 += 64u) {
        grid[t_2 / 16u][t_2 % 16u] = 0.0;
    }
    for (var t_3 = t; t_3 < 70u; t_3 += 64u) {
        atomicStore(&cells[t_3].count, 0u);
        cells[t_3].weights = array<f32, 4>();
        for (var t_4 = 0u; t_4 < 3u; t_4++) {
            for (var t_5 = 0u; t_5 < 2u; t_5++) {
                atomicStore(&cells[t_3].rows[t_4][t_5], 0);
            }
        }
    }
    workgroupBarrier();
    atomicAdd(&total, atomicLoad(&cells[1].count) + u32(atomicLoad(&cells[2].rows[1][1])));
    if flag {
        out[input.index] = exact[1] + few[2].x + f32(many[3]) + grid[4][5] + cells[6].weights[3];
    }
}

@compute @workgroup_size(4)
fn other(
    @builtin(global_invocation_id) local_invocation_index: vec3u,
    @builtin(local_invocation_index) local_invocation_index_1: u32,
) {
    unused[local_invocation_index_1] = 0.0;
    workgroupBarrier();
    out[local_invocation_index.x] = unused[local_invocation_index.x];
}

@compute @workgroup_size(1)
fn without() {
    out[0] = 1.0;
}
