// One head of attention, softmax(Q K^T / sqrt(D)) V, in one pass over the keys (as in FlashAttention). An invocation has
// one query; its workgroup loads keys and values in tiles. Where a tile raises the greatest score, what was summed up to
// then is scaled down.

const D = 32u;
const D4 = D / 4u;
const TILE = 32u;
const QUERIES = 64u;
const LOWEST = -3.4028234e38;

struct Params {
    queries: u32,
    keys: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> q: array<array<vec4f, D4>>;
@group(0) @binding(2) var<storage, read> k: array<array<vec4f, D4>>;
@group(0) @binding(3) var<storage, read> v: array<array<vec4f, D4>>;
@group(0) @binding(4) var<storage, read_write> attended: array<array<vec4f, D4>>;

var<workgroup> key_tile: array<array<vec4f, D4>, TILE>;
var<workgroup> value_tile: array<array<vec4f, D4>, TILE>;

@compute @workgroup_size(QUERIES)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    let scale = 1.0 / sqrt(f32(D));
    var query: array<vec4f, D4>;
    var sums: array<vec4f, D4>;
    if id.x < params.queries {
        for (var d = 0u; d < D4; d++) {
            query[d] = q[id.x][d] * scale;
        }
    }
    var greatest = LOWEST;
    var total = 0.0;

    for (var start = 0u; start < params.keys; start += TILE) {
        for (var i = local; i < TILE * D4; i += QUERIES) {
            let row = i / D4;
            if start + row < params.keys {
                key_tile[row][i % D4] = k[start + row][i % D4];
                value_tile[row][i % D4] = v[start + row][i % D4];
            }
        }
        workgroupBarrier();

        let rows = min(TILE, params.keys - start);
        var scores: array<f32, TILE>;
        var tile_greatest = greatest;
        for (var j = 0u; j < rows; j++) {
            var score = 0.0;
            for (var d = 0u; d < D4; d++) {
                score += dot(query[d], key_tile[j][d]);
            }
            scores[j] = score;
            tile_greatest = max(tile_greatest, score);
        }

        let correction = exp(greatest - tile_greatest);
        total *= correction;
        for (var d = 0u; d < D4; d++) {
            sums[d] *= correction;
        }
        for (var j = 0u; j < rows; j++) {
            let weight = exp(scores[j] - tile_greatest);
            total += weight;
            for (var d = 0u; d < D4; d++) {
                sums[d] += weight * value_tile[j][d];
            }
        }
        greatest = tile_greatest;
        workgroupBarrier();
    }

    if id.x < params.queries {
        for (var d = 0u; d < D4; d++) {
            attended[id.x][d] = sums[d] / total;
        }
    }
}
