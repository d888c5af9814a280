// The kernels of a transformer block. Activations have a row for each token, matrices of weights a row for each input.

const WIDTH = 64u;
const TILE = 16u;

var<workgroup> partials: array<f32, WIDTH>;

fn sum_of_workgroup(lane: u32, own: f32) -> f32 {
    partials[lane] = own;
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            partials[lane] += partials[lane + half];
        }
    }
    let sum = workgroupUniformLoad(&partials[0]);
    return sum;
}

fn maximum_of_workgroup(lane: u32, own: f32) -> f32 {
    partials[lane] = own;
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            partials[lane] = max(partials[lane], partials[lane + half]);
        }
    }
    let maximum = workgroupUniformLoad(&partials[0]);
    return maximum;
}

// Shifts and scales each row to mean 0 and variance 1, then by learnt numbers: a workgroup for each row.
@group(0) @binding(0) var<storage, read> activations: array<f32>;
@group(0) @binding(1) var<storage, read> gains: array<f32>;
@group(0) @binding(2) var<storage, read> shifts: array<f32>;
@group(0) @binding(3) var<storage, read_write> normalised: array<f32>;

@compute @workgroup_size(WIDTH)
fn normalise(@builtin(workgroup_id) row: vec3u, @builtin(local_invocation_index) lane: u32) {
    let channels = arrayLength(&gains);
    let first = row.x * channels;
    var sum = 0.0;
    for (var c = lane; c < channels; c += WIDTH) {
        sum += activations[first + c];
    }
    let mean = sum_of_workgroup(lane, sum) / f32(channels);
    var squares = 0.0;
    for (var c = lane; c < channels; c += WIDTH) {
        let difference = activations[first + c] - mean;
        squares += difference * difference;
    }
    let variance = sum_of_workgroup(lane, squares) / f32(channels);
    let scale = inverseSqrt(variance + 1e-5);
    for (var c = lane; c < channels; c += WIDTH) {
        normalised[first + c] = (activations[first + c] - mean) * scale * gains[c] + shifts[c];
    }
}

// source * weights + bias, with tiles of both matrices in workgroup memory.
struct Shape {
    rows: u32,
    inputs: u32,
    outputs: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> source: array<f32>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> result: array<f32>;

var<workgroup> source_tile: array<array<f32, TILE>, TILE>;
var<workgroup> weights_tile: array<array<f32, TILE>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn linear(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
    var sum = 0.0;
    for (var first = 0u; first < shape.inputs; first += TILE) {
        source_tile[local.y][local.x] = 0.0;
        weights_tile[local.y][local.x] = 0.0;
        if id.y < shape.rows && first + local.x < shape.inputs {
            source_tile[local.y][local.x] = source[id.y * shape.inputs + first + local.x];
        }
        if id.x < shape.outputs && first + local.y < shape.inputs {
            weights_tile[local.y][local.x] = weights[(first + local.y) * shape.outputs + id.x];
        }
        workgroupBarrier();
        for (var k = 0u; k < TILE; k++) {
            sum += source_tile[local.y][k] * weights_tile[k][local.x];
        }
        workgroupBarrier();
    }
    if id.y < shape.rows && id.x < shape.outputs {
        result[id.y * shape.outputs + id.x] = sum + bias[id.x];
    }
}

// A row has all heads' queries, then all keys, then all values.
struct Heads {
    tokens: u32,
    heads: u32,
    channels: u32, // of a head
}

@group(0) @binding(0) var<uniform> heads: Heads;
@group(0) @binding(1) var<storage, read> queries_keys_values: array<f32>;
@group(0) @binding(2) var<storage, read_write> scores: array<f32>;

// How well each query fits each key, by head: id is (key, query, head).
@compute @workgroup_size(8, 8)
fn score(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= heads.tokens || id.y >= heads.tokens {
        return;
    }
    let width = heads.heads * heads.channels;
    let query = id.y * 3u * width + id.z * heads.channels;
    let key = id.x * 3u * width + width + id.z * heads.channels;
    var sum = 0.0;
    for (var c = 0u; c < heads.channels; c++) {
        sum += queries_keys_values[query + c] * queries_keys_values[key + c];
    }
    scores[(id.z * heads.tokens + id.y) * heads.tokens + id.x] = sum * inverseSqrt(f32(heads.channels));
}

// Makes each row of scores positive, with sum 1: a workgroup for each row.
@group(0) @binding(0) var<uniform> row_length: u32;
@group(0) @binding(1) var<storage, read_write> shares: array<f32>;

@compute @workgroup_size(WIDTH)
fn softmax(@builtin(workgroup_id) row: vec3u, @builtin(local_invocation_index) lane: u32) {
    let first = row.x * row_length;
    var largest = shares[first];
    for (var i = lane; i < row_length; i += WIDTH) {
        largest = max(largest, shares[first + i]);
    }
    let maximum = maximum_of_workgroup(lane, largest);
    var sum = 0.0;
    for (var i = lane; i < row_length; i += WIDTH) {
        let power = exp(shares[first + i] - maximum);
        shares[first + i] = power;
        sum += power;
    }
    let total = sum_of_workgroup(lane, sum);
    for (var i = lane; i < row_length; i += WIDTH) {
        shares[first + i] /= total;
    }
}

// Each token's mixture of all values: id is (channel of all heads, token).
@group(0) @binding(2) var<storage, read> attention: array<f32>;
@group(0) @binding(3) var<storage, read_write> mixture: array<f32>;

@compute @workgroup_size(16, 4)
fn mix_values(@builtin(global_invocation_id) id: vec3u) {
    let width = heads.heads * heads.channels;
    if id.x >= width || id.y >= heads.tokens {
        return;
    }
    let first = (id.x / heads.channels * heads.tokens + id.y) * heads.tokens;
    var sum = 0.0;
    for (var token = 0u; token < heads.tokens; token++) {
        sum += attention[first + token] * queries_keys_values[token * 3u * width + 2u * width + id.x];
    }
    mixture[id.y * width + id.x] = sum;
}

// The Gaussian error linear unit, by its approximation with tanh.
@group(0) @binding(0) var<storage, read_write> hidden: array<f32>;

@compute @workgroup_size(WIDTH)
fn gelu(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&hidden) {
        let x = hidden[id.x];
        hidden[id.x] = 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
    }
}

@group(0) @binding(0) var<storage, read> change: array<f32>;
@group(0) @binding(1) var<storage, read_write> total: array<f32>;

@compute @workgroup_size(WIDTH)
fn add(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&total) {
        total[id.x] += change[id.x];
    }
}
