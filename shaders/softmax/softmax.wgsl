// The softmax of each row of a matrix; a workgroup has one row. Subtracting the greatest element first keeps exp
// in range.

const WIDTH = 32u;
const LOWEST = -3.4028234e38;

@group(0) @binding(0) var<uniform> columns: u32;
@group(0) @binding(1) var<storage, read> scores: array<f32>;
@group(0) @binding(2) var<storage, read_write> shares: array<f32>;

var<workgroup> parts: array<f32, WIDTH>;

fn workgroup_max(local: u32, part: f32) -> f32 {
    parts[local] = part;
    for (var reach = WIDTH / 2u; reach > 0u; reach /= 2u) {
        workgroupBarrier();
        if local < reach {
            parts[local] = max(parts[local], parts[local + reach]);
        }
    }
    return workgroupUniformLoad(&parts[0]);
}

fn workgroup_sum(local: u32, part: f32) -> f32 {
    parts[local] = part;
    for (var reach = WIDTH / 2u; reach > 0u; reach /= 2u) {
        workgroupBarrier();
        if local < reach {
            parts[local] += parts[local + reach];
        }
    }
    return workgroupUniformLoad(&parts[0]);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) row: vec3u, @builtin(local_invocation_index) local: u32) {
    let start = row.x * columns;

    var greatest = LOWEST;
    for (var i = local; i < columns; i += WIDTH) {
        greatest = max(greatest, scores[start + i]);
    }
    let row_greatest = workgroup_max(local, greatest);

    var sum = 0.0;
    for (var i = local; i < columns; i += WIDTH) {
        let weight = exp(scores[start + i] - row_greatest);
        shares[start + i] = weight;
        sum += weight;
    }
    let row_sum = workgroup_sum(local, sum);

    for (var i = local; i < columns; i += WIDTH) {
        shares[start + i] /= row_sum;
    }
}
