// Transposes a row-major matrix through tiles. The column of padding keeps the invocations of a row of the
// transposed tile in different memory banks.

const TILE = 16u;

@group(0) @binding(0) var<uniform> size: vec2u; // columns and rows of the matrix
@group(0) @binding(1) var<storage, read> matrix: array<f32>;
@group(0) @binding(2) var<storage, read_write> transposed: array<f32>;

var<workgroup> tile: array<array<f32, TILE + 1u>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let from_corner = block.xy * TILE;
    let source = from_corner + local.xy;
    if all(source < size) {
        tile[local.y][local.x] = matrix[source.y * size.x + source.x];
    }
    workgroupBarrier();

    let goal = from_corner.yx + local.xy;
    if all(goal < size.yx) {
        transposed[goal.y * size.y + goal.x] = tile[local.x][local.y];
    }
}
