// Sums blocks of 2 * width numbers, each by a tree in workgroup memory: partial_sums[block].

override width: u32 = 256;

@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read_write> partial_sums: array<f32>;

var<workgroup> sums: array<f32, width>;

fn value_or_zero(i: u32) -> f32 {
    if i < arrayLength(&values) {
        return values[i];
    }
    return 0.0;
}

@compute @workgroup_size(width)
fn main(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) local: u32) {
    let first = block.x * 2u * width + local;
    sums[local] = value_or_zero(first) + value_or_zero(first + width);

    for (var reach = width / 2u; reach > 0u; reach >>= 1u) {
        workgroupBarrier();
        if local < reach {
            sums[local] += sums[local + reach];
        }
    }
    if local == 0u {
        partial_sums[block.x] = sums[0];
    }
}
