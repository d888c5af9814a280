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
    let index = input.index;
    if index == 0u {
        atomicStore(&total, 0u);
    }
    if index == 0u {
        flag = false;
    }
    exact[index] = 0.0;
    if index < 10u {
        few[index] = vec3f(0.0);
    }
    for (var t = index; t < 1000u; t += 64u) {
        many[t] = 0u;
    }
    for (var t_1 = index; t_1 < 256u; t_1 += 64u) {
        grid[t_1 / 16u][t_1 % 16u] = 0.0;
    }
    for (var t_2 = index; t_2 < 70u; t_2 += 64u) {
        atomicStore(&cells[t_2].count, 0u);
        cells[t_2].weights = array<f32, 4>();
        for (var t_3 = 0u; t_3 < 3u; t_3++) {
            for (var t_4 = 0u; t_4 < 2u; t_4++) {
                atomicStore(&cells[t_2].rows[t_3][t_4], 0);
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
