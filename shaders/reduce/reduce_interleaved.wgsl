// Sums blocks of 256 integers with interleaved addressing: in the first turn every second invocation adds its
// neighbour's element, in the next every fourth one adds that two further, and so on.

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> block_sums: array<u32>;

var<workgroup> sdata: array<u32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) t: u32) {
    let i = group.x * 256u + t;
    if i < arrayLength(&values) {
        sdata[t] = values[i];
    } else {
        sdata[t] = 0u;
    }
    workgroupBarrier();

    for (var s = 1u; s < 256u; s *= 2u) {
        if t % (2u * s) == 0u {
            sdata[t] += sdata[t + s];
        }
        workgroupBarrier();
    }

    if t == 0u {
        block_sums[group.x] = sdata[0];
    }
}
