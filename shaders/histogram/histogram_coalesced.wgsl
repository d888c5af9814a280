// Counts the top bytes of keys. An invocation takes 16 keys, a workgroup's width apart, so that neighbouring
// invocations read neighbouring keys in every turn.

const WIDTH = 256u;
const ITEMS = 16u;
const BINS = 256u;

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, BINS>;

var<workgroup> bins: array<atomic<u32>, BINS>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    atomicStore(&bins[local.x], 0u);
    workgroupBarrier();

    let base = group.x * WIDTH * ITEMS + local.x;
    for (var item = 0u; item < ITEMS; item++) {
        let i = base + item * WIDTH;
        if i < arrayLength(&keys) {
            atomicAdd(&bins[keys[i] >> 24u], 1u);
        }
    }
    workgroupBarrier();

    let count = atomicLoad(&bins[local.x]);
    if count != 0u {
        atomicAdd(&counts[local.x], count);
    }
}
