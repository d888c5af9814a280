// Inclusive prefix sums of blocks of 256 numbers in place, after Kogge and Stone: in each round an element adds the
// one `stride` below. A barrier parts the reads of a round from its writes.

const BLOCK_SIZE: u32 = 256u;

@group(0) @binding(0) var<storage, read> values: array<i32>;
@group(0) @binding(1) var<storage, read_write> sums: array<i32>;
@group(0) @binding(2) var<storage, read_write> block_sums: array<i32>;

var<workgroup> shared_sums: array<i32, BLOCK_SIZE>;

@compute @workgroup_size(BLOCK_SIZE, 1, 1)
fn main(
    @builtin(global_invocation_id) global_id: vec3<u32>,
    @builtin(local_invocation_id) local_id: vec3<u32>,
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
) {
    let tid = local_id.x;
    let gid = global_id.x;
    if gid < arrayLength(&values) {
        shared_sums[tid] = values[gid];
    } else {
        shared_sums[tid] = 0;
    }

    for (var stride = 1u; stride < BLOCK_SIZE; stride = stride * 2u) {
        workgroupBarrier();
        var addend = 0;
        if tid >= stride {
            addend = shared_sums[tid - stride];
        }
        workgroupBarrier();
        shared_sums[tid] += addend;
    }

    if gid < arrayLength(&sums) {
        sums[gid] = shared_sums[tid];
    }
    if tid == BLOCK_SIZE - 1u {
        block_sums[workgroup_id.x] = shared_sums[tid];
    }
}
