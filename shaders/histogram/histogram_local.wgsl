// Counts how often each byte value occurs; a workgroup counts in its own memory and adds its counts up once.

const BINS = 256u;
const WIDTH = 64u;

@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, BINS>;

var<workgroup> local_counts: array<atomic<u32>, BINS>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    for (var bin = local; bin < BINS; bin += WIDTH) {
        atomicStore(&local_counts[bin], 0u);
    }
    workgroupBarrier();

    if id.x < arrayLength(&words) {
        let word = words[id.x];
        for (var shift = 0u; shift < 32u; shift += 8u) {
            atomicAdd(&local_counts[extractBits(word, shift, 8u)], 1u);
        }
    }
    workgroupBarrier();

    for (var bin = local; bin < BINS; bin += WIDTH) {
        let count = atomicLoad(&local_counts[bin]);
        if count > 0u {
            atomicAdd(&counts[bin], count);
        }
    }
}
