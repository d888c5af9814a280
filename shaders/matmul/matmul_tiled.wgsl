// c = a * b as in matmul_naive, but a workgroup reads each tile of a and b once, into workgroup memory.

const TILE = 16u;

struct Size {
    m: u32,
    k: u32,
    n: u32,
}

@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

var<workgroup> a_tile: array<array<f32, TILE>, TILE>;
var<workgroup> b_tile: array<array<f32, TILE>, TILE>;

fn load_a(row: u32, column: u32) -> f32 {
    if row < size.m && column < size.k {
        return a[row * size.k + column];
    }
    return 0.0;
}

fn load_b(row: u32, column: u32) -> f32 {
    if row < size.k && column < size.n {
        return b[row * size.n + column];
    }
    return 0.0;
}

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(global_invocation_id) global: vec3u, @builtin(local_invocation_id) local: vec3u) {
    var sum = 0.0;
    for (var start = 0u; start < size.k; start += TILE) {
        a_tile[local.y][local.x] = load_a(global.y, start + local.x);
        b_tile[local.y][local.x] = load_b(start + local.y, global.x);
        workgroupBarrier();
        for (var i = 0u; i < TILE; i++) {
            sum += a_tile[local.y][i] * b_tile[i][local.x];
        }
        workgroupBarrier();
    }
    if global.y < size.m && global.x < size.n {
        c[global.y * size.n + global.x] = sum;
    }
}
