// A separable convolution of a picture with 17 weights, first along rows, then along columns. A workgroup loads its
// tile and a halo of 8 pixels at both ends; beyond the border the picture goes on with the nearest pixel.

const RADIUS = 8;
const TAPS = 2 * RADIUS + 1;

const ROW_WIDTH = 64;
const ROW_HEIGHT = 4;
const COLUMN_WIDTH = 16;
const COLUMN_HEIGHT = 16;

@group(0) @binding(0) var<uniform> size: vec2i;
@group(0) @binding(1) var<storage, read> weights: array<f32, TAPS>;
@group(0) @binding(2) var<storage, read> source: array<f32>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;

var<workgroup> row_tile: array<array<f32, ROW_WIDTH + 2 * RADIUS>, ROW_HEIGHT>;
var<workgroup> column_tile: array<array<f32, COLUMN_WIDTH>, COLUMN_HEIGHT + 2 * RADIUS>;

fn pixel(x: i32, y: i32) -> f32 {
    let at = clamp(vec2i(x, y), vec2i(0, 0), size - vec2i(1, 1));
    return source[at.y * size.x + at.x];
}

@compute @workgroup_size(ROW_WIDTH, ROW_HEIGHT)
fn rows(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let at = vec2i(id.xy);
    let x = i32(local.x);
    let y = i32(local.y);
    row_tile[y][x + RADIUS] = pixel(at.x, at.y);
    if x < RADIUS {
        row_tile[y][x] = pixel(at.x - RADIUS, at.y);
        row_tile[y][x + RADIUS + ROW_WIDTH] = pixel(at.x + ROW_WIDTH, at.y);
    }
    workgroupBarrier();

    var sum = 0.0;
    for (var i = 0; i < TAPS; i++) {
        sum += weights[i] * row_tile[y][x + i];
    }
    if at.x < size.x && at.y < size.y {
        result[at.y * size.x + at.x] = sum;
    }
}

@compute @workgroup_size(COLUMN_WIDTH, COLUMN_HEIGHT)
fn columns(
    @builtin(workgroup_id) group: vec3u,
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_id) local: vec3u,
) {
    let top = i32(group.y) * COLUMN_HEIGHT - RADIUS;
    for (var row = i32(local.y); row < COLUMN_HEIGHT + 2 * RADIUS; row += COLUMN_HEIGHT) {
        column_tile[row][local.x] = pixel(i32(id.x), top + row);
    }
    workgroupBarrier();

    let at = vec2i(id.xy);
    if any(at >= size) {
        return;
    }
    var sum = 0.0;
    for (var i = -RADIUS; i <= RADIUS; i++) {
        sum += weights[i + RADIUS] * column_tile[i32(local.y) + RADIUS + i][local.x];
    }
    result[at.y * size.x + at.x] = sum;
}
