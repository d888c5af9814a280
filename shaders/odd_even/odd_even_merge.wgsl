// Sorts blocks of 512 keys in workgroup memory by Batcher's odd-even merge sort. Each round merges the two sorted halves
// of every run of `size` keys: keys `size / 2` apart are compared and exchanged first, then keys at ever smaller
// distances, except for those at the ends of the run.

const SIZE = 512u;
const LANES = 256u;
const GREATEST = 3.4028234e38;

@group(0) @binding(0) var<storage, read_write> keys: array<f32>;

var<workgroup> slots: array<f32, SIZE>;

fn compare_and_swap(low: u32, high: u32) {
    let a = slots[low];
    let b = slots[high];
    slots[low] = min(a, b);
    slots[high] = max(a, b);
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let lane = local.x;
    let base = group.x * SIZE;
    let count = arrayLength(&keys);
    for (var i = lane; i < SIZE; i += LANES) {
        if base + i < count {
            slots[i] = keys[base + i];
        } else {
            slots[i] = GREATEST;
        }
    }

    for (var size = 2u; size <= SIZE; size <<= 1u) {
        var stride = size >> 1u;
        let offset = lane & (stride - 1u);
        workgroupBarrier();
        let first = 2u * lane - (lane & (stride - 1u));
        compare_and_swap(first, first + stride);
        stride >>= 1u;
        while stride > 0u {
            workgroupBarrier();
            let at = 2u * lane - (lane & (stride - 1u));
            if offset >= stride {
                compare_and_swap(at - stride, at);
            }
            stride >>= 1u;
        }
    }
    workgroupBarrier();

    for (var i = lane; i < SIZE; i += LANES) {
        if base + i < count {
            keys[base + i] = slots[i];
        }
    }
}
