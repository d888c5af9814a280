// c = a * b as in matmul_naive, in square tiles of 16 x 16; both tiles are flat arrays in workgroup memory.

struct Size {
    m: u32,
    k: u32,
    n: u32,
}

@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

var<workgroup> tile_a: array<f32, 256>;
var<workgroup> tile_b: array<f32, 256>;

@compute @workgroup_size(16, 16, 1)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let row = group.y * 16u + local.y;
    let column = group.x * 16u + local.x;
    let tiles = (size.k + 15u) / 16u;

    var accumulator = 0.0;
    for (var tile = 0u; tile < tiles; tile++) {
        let a_column = tile * 16u + local.x;
        let b_row = tile * 16u + local.y;
        tile_a[index] = 0.0;
        if row < size.m && a_column < size.k {
            tile_a[index] = a[row * size.k + a_column];
        }
        tile_b[index] = 0.0;
        if b_row < size.k && column < size.n {
            tile_b[index] = b[b_row * size.n + column];
        }
        workgroupBarrier();

        for (var i = 0u; i < 16u; i++) {
            accumulator = fma(tile_a[local.y * 16u + i], tile_b[i * 16u + local.x], accumulator);
        }
        workgroupBarrier();
    }

    if row < size.m && column < size.n {
        c[row * size.n + column] = accumulator;
    }
}
