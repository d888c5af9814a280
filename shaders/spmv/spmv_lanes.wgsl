// A sparse matrix in compressed rows times a vector: 32 invocations add up a row, so that their elements are side by
// side, and a workgroup has four rows. Columns and elements are arrays of their own.

@group(0) @binding(0) var<storage, read> row_starts: array<u32>;
@group(0) @binding(1) var<storage, read> columns: array<u32>;
@group(0) @binding(2) var<storage, read> elements: array<f32>;
@group(0) @binding(3) var<storage, read> vector: array<f32>;
@group(0) @binding(4) var<storage, read_write> product: array<f32>;

var<workgroup> sums: array<f32, 128>;

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let lane = local % 32u;
    let row = group.x * 4u + local / 32u;
    let exists = row < arrayLength(&product);
    var sum = 0.0;
    if (exists) {
        let end = row_starts[row + 1u];
        for (var at = row_starts[row] + lane; at < end; at += 32u) {
            sum += elements[at] * vector[columns[at]];
        }
    }
    sums[local] = sum;
    for (var half = 16u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if (lane < half) {
            sums[local] += sums[local + half];
        }
    }
    if (lane == 0u && exists) {
        product[row] = sums[local];
    }
}
