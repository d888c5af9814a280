// One explicit step of the heat equation in a box of nx by ny by nz cells, whose surface keeps its temperature. One
// number is taken apart into three.

struct Grid {
    nx: u32,
    ny: u32,
    nz: u32,
    rate: f32,
}

@group(0) @binding(0) var<uniform> grid: Grid;
@group(0) @binding(1) var<storage, read> before: array<f32>;
@group(0) @binding(2) var<storage, read_write> after: array<f32>;

fn cell(x: u32, y: u32, z: u32) -> f32 {
    return before[(z * grid.ny + y) * grid.nx + x];
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= grid.nx * grid.ny * grid.nz) {
        return;
    }
    let x = i % grid.nx;
    let y = (i / grid.nx) % grid.ny;
    let z = i / (grid.nx * grid.ny);
    let is_outer = x == 0u || y == 0u || z == 0u;
    if (is_outer || x == grid.nx - 1u || y == grid.ny - 1u || z == grid.nz - 1u) {
        after[i] = before[i];
        return;
    }
    let middle = before[i];
    let sum = cell(x - 1u, y, z)
        + cell(x + 1u, y, z)
        + cell(x, y - 1u, z)
        + cell(x, y + 1u, z)
        + cell(x, y, z - 1u)
        + cell(x, y, z + 1u);
    after[i] = middle + grid.rate * (sum - 6.0 * middle);
}
