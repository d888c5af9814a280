// Sums blocks of 256 numbers; in each turn the lower half of the remaining sums adds the upper half.

const n: u32 = 256;

@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read_write> block_sums: array<f32>;

var<workgroup> partial: array<f32, n>;

@compute @workgroup_size(n)
fn main(
    @builtin(global_invocation_id) gid: vec3<u32>,
    @builtin(local_invocation_id) lid: vec3<u32>,
    @builtin(workgroup_id) wid: vec3<u32>,
) {
    let tid = lid.x;
    partial[tid] = 0.0;
    if gid.x < arrayLength(&values) {
        partial[tid] = values[gid.x];
    }
    workgroupBarrier();

    for (var s = n / 2u; s > 0u; s = s / 2u) {
        if tid < s {
            partial[tid] = partial[tid] + partial[tid + s];
        }
        workgroupBarrier();
    }

    if tid == 0u {
        block_sums[wid.x] = partial[0];
    }
}
