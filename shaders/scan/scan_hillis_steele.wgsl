// Inclusive prefix sums of blocks, after Hillis and Steele: log2(width) rounds between two halves of workgroup memory.

override width: u32 = 256;

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> block_sums: array<u32>;

var<workgroup> rounds: array<u32, 2 * width>;

@compute @workgroup_size(width)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(workgroup_id) block: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let count = arrayLength(&values);
    var source = 0u;
    rounds[local] = select(0u, values[min(id.x, count - 1u)], id.x < count);
    workgroupBarrier();

    for (var reach = 1u; reach < width; reach *= 2u) {
        var sum = rounds[source + local];
        if local >= reach {
            sum += rounds[source + local - reach];
        }
        source = width - source;
        rounds[source + local] = sum;
        workgroupBarrier();
    }

    if id.x < count {
        sums[id.x] = rounds[source + local];
    }
    if local == width - 1u {
        block_sums[block.x] = rounds[source + local];
    }
}
