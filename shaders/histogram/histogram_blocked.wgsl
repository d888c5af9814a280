// A histogram of samples from 0 to 1 in 128 bins; samples outside count at the ends. An invocation takes a block of
// 16 samples that lie side by side.

const LANES = 64;
const SAMPLES_PER_LANE = 16;
const BINS = 128;

@group(0) @binding(0) var<storage, read> samples: array<f32>;
@group(0) @binding(1) var<storage, read_write> histogram: array<atomic<u32>>;

var<workgroup> local_histogram: array<atomic<u32>, BINS>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(global_invocation_id) global_id: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    for (var bin = lane; bin < BINS; bin += LANES) {
        atomicStore(&local_histogram[bin], 0u);
    }
    workgroupBarrier();

    let first = global_id.x * SAMPLES_PER_LANE;
    let last = min(first + SAMPLES_PER_LANE, arrayLength(&samples));
    for (var i = first; i < last; i++) {
        let bin = u32(clamp(samples[i] * f32(BINS), 0.0, f32(BINS - 1)));
        atomicAdd(&local_histogram[bin], 1u);
    }
    workgroupBarrier();

    for (var bin = lane; bin < BINS; bin += LANES) {
        atomicAdd(&histogram[bin], atomicLoad(&local_histogram[bin]));
    }
}
