// A product of matrices of signed bytes: each word has four of them, which follow each other along the inner dimension.

struct Size {
    m: u32,
    words: u32,
    n: u32,
}

const TILE = 16u;

@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(0) @binding(3) var<storage, read_write> c: array<i32>;

var<workgroup> a_tile: array<array<u32, TILE>, TILE>;
var<workgroup> b_tile: array<array<u32, TILE>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
    var sum = 0i;
    for (var start = 0u; start < size.words; start += TILE) {
        let column = start + local.x;
        let row = start + local.y;
        a_tile[local.y][local.x] = 0u;
        if id.y < size.m && column < size.words {
            a_tile[local.y][local.x] = a[id.y * size.words + column];
        }
        b_tile[local.y][local.x] = 0u;
        if row < size.words && id.x < size.n {
            b_tile[local.y][local.x] = b[row * size.n + id.x];
        }
        workgroupBarrier();
        for (var i = 0u; i < TILE; i++) {
            sum += dot4I8Packed(a_tile[local.y][i], b_tile[i][local.x]);
        }
        workgroupBarrier();
    }
    if id.y < size.m && id.x < size.n {
        c[id.y * size.n + id.x] = sum;
    }
}
