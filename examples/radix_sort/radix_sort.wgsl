// A radix sort from the lowest digit up, in three kernels for a digit: count the digits of each block of keys, turn the
// counts into the places where the runs of equal digits begin, and put the keys there.

const BLOCK = 256u;
const RADIX = 16u;

@group(0) @binding(0) var<uniform> shift: u32;
@group(0) @binding(1) var<storage, read> keys: array<u32>;

fn digit_of(key: u32) -> u32 {
    return (key >> shift) & (RADIX - 1u);
}

// How often each digit occurs in a block: all blocks of digit 0, then those of digit 1, and so on.
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

var<workgroup> block_counts: array<atomic<u32>, RADIX>;

@compute @workgroup_size(BLOCK)
fn count(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) block: vec3u,
    @builtin(num_workgroups) blocks: vec3u,
) {
    if id.x < arrayLength(&keys) {
        atomicAdd(&block_counts[digit_of(keys[id.x])], 1u);
    }
    workgroupBarrier();
    if lane < RADIX {
        counts[lane * blocks.x + block.x] = atomicLoad(&block_counts[lane]);
    }
}

// Replaces each number by the sum of those before it, in one workgroup.
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;

var<workgroup> run_sums: array<u32, BLOCK>;

@compute @workgroup_size(BLOCK)
fn scan(@builtin(local_invocation_index) lane: u32) {
    let run = (arrayLength(&sums) + BLOCK - 1u) / BLOCK;
    let first = min(lane * run, arrayLength(&sums));
    let end = min(first + run, arrayLength(&sums));
    var sum = 0u;
    for (var i = first; i < end; i++) {
        sum += sums[i];
    }
    run_sums[lane] = sum;
    workgroupBarrier();
    for (var distance = 1u; distance < BLOCK; distance *= 2u) {
        var below = 0u;
        if lane >= distance {
            below = run_sums[lane - distance];
        }
        workgroupBarrier();
        run_sums[lane] += below;
        workgroupBarrier();
    }
    var before = run_sums[lane] - sum;
    for (var i = first; i < end; i++) {
        let here = sums[i];
        sums[i] = before;
        before += here;
    }
}

// Puts each key behind those of its block with the same digit.
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read_write> sorted: array<u32>;

var<workgroup> digits: array<u32, BLOCK>;

@compute @workgroup_size(BLOCK)
fn scatter(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) block: vec3u,
    @builtin(num_workgroups) blocks: vec3u,
) {
    var key = 0u;
    if id.x < arrayLength(&keys) {
        key = keys[id.x];
    }
    let digit = digit_of(key);
    digits[lane] = digit;
    workgroupBarrier();
    if id.x >= arrayLength(&keys) {
        return;
    }
    var rank = 0u;
    for (var i = 0u; i < lane; i++) {
        rank += u32(digits[i] == digit);
    }
    sorted[starts[digit * blocks.x + block.x] + rank] = key;
}
