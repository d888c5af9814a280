// A step of the conjugate gradient method for a symmetric positive definite matrix. The matrix is in the ELLPACK form:
// all rows have the same number of places, and place k of all rows lies together. An empty place has the element 0.
//
// Dot products are made in two kernels: each workgroup adds up its products by a tree, and one workgroup adds up the sums.

const WIDTH = 256u;
const TARGET_IS_MET = 1u;

struct Scalars {
    squared_residual: f32,
    step: f32, // how far the solution goes along the direction
    turn: f32, // how much of the old direction is in the new one
}

var<workgroup> sums: array<f32, WIDTH>;

// The sum of a number of each invocation; the result is that of the first invocation.
fn sum_of_workgroup(lane: u32, own: f32) -> f32 {
    sums[lane] = own;
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            sums[lane] += sums[lane + half];
        }
    }
    return sums[lane];
}

@group(0) @binding(0) var<storage, read> columns: array<u32>;
@group(0) @binding(1) var<storage, read> elements: array<f32>;
@group(0) @binding(2) var<storage, read> direction: array<f32>;
@group(0) @binding(3) var<storage, read_write> image: array<f32>;
@group(0) @binding(4) var<storage, read_write> partial_sums: array<f32>;

// image = matrix * direction, and a part of dot(direction, image).
@compute @workgroup_size(WIDTH)
fn multiply(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let rows = arrayLength(&direction);
    var product = 0.0;
    if id.x < rows {
        var sum = 0.0;
        for (var at = id.x; at < arrayLength(&elements); at += rows) {
            sum += elements[at] * direction[columns[at]];
        }
        image[id.x] = sum;
        product = sum * direction[id.x];
    }
    let total = sum_of_workgroup(lane, product);
    if lane == 0u {
        partial_sums[group.x] = total;
    }
}

@group(0) @binding(0) var<storage, read> parts: array<f32>;
@group(0) @binding(1) var<storage, read_write> scalars: Scalars;

fn sum_of_parts(lane: u32) -> f32 {
    var sum = 0.0;
    for (var i = lane; i < arrayLength(&parts); i += WIDTH) {
        sum += parts[i];
    }
    return sum_of_workgroup(lane, sum);
}

// The parts are those of dot(direction, image). At the solution the step is 0.
@compute @workgroup_size(WIDTH)
fn choose_step(@builtin(local_invocation_index) lane: u32) {
    let curvature = sum_of_parts(lane);
    if lane == 0u {
        scalars.step = 0.0;
        if curvature > 0.0 {
            scalars.step = scalars.squared_residual / curvature;
        }
    }
}

@group(0) @binding(0) var<storage, read> now: Scalars;
@group(0) @binding(1) var<storage, read> along: array<f32>;
@group(0) @binding(2) var<storage, read> image_along: array<f32>;
@group(0) @binding(3) var<storage, read_write> solution: array<f32>;
@group(0) @binding(4) var<storage, read_write> residual: array<f32>;
@group(0) @binding(5) var<storage, read_write> partial_squares: array<f32>;

@compute @workgroup_size(WIDTH)
fn advance(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    var square = 0.0;
    if id.x < arrayLength(&solution) {
        solution[id.x] += now.step * along[id.x];
        let rest = residual[id.x] - now.step * image_along[id.x];
        residual[id.x] = rest;
        square = rest * rest;
    }
    let total = sum_of_workgroup(lane, square);
    if lane == 0u {
        partial_squares[group.x] = total;
    }
}

@group(0) @binding(2) var<uniform> target_square: f32;
@group(0) @binding(3) var<storage, read_write> converged: u32;

// The parts are those of the squared residual.
@compute @workgroup_size(WIDTH)
fn choose_turn(@builtin(local_invocation_index) lane: u32) {
    let square = sum_of_parts(lane);
    if lane == 0u {
        scalars.turn = 0.0;
        if scalars.squared_residual > 0.0 {
            scalars.turn = square / scalars.squared_residual;
        }
        scalars.squared_residual = square;
        converged = select(0u, TARGET_IS_MET, square <= target_square);
    }
}

@group(0) @binding(1) var<storage, read> rest: array<f32>;
@group(0) @binding(2) var<storage, read_write> next_direction: array<f32>;

@compute @workgroup_size(WIDTH)
fn turn(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&rest) {
        next_direction[id.x] = rest[id.x] + now.turn * next_direction[id.x];
    }
}
