// One pass of a radix sort from the lowest digit up: each workgroup sorts its block of 1024 keys by four bits, and keeps
// the order of keys whose digits are equal. It also says how often each digit occurs in the block, which is what placing
// the blocks' runs in the whole array takes.
//
// An invocation has eight keys in a row. It counts their digits in counters of its own; those of one digit lie side by
// side for all invocations, so that after a scan over all of them each counter says where the invocation's next key
// with that digit goes.

const WIDTH = 128u;
const KEYS_EACH = 8u;
const BLOCK = WIDTH * KEYS_EACH;
const RADIX_BITS = 4u;
const RADIX = 1u << RADIX_BITS;
const COUNTERS = RADIX * WIDTH;

@group(0) @binding(0) var<uniform> shift: u32;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read_write> sorted: array<u32>;
@group(0) @binding(3) var<storage, read_write> digit_counts: array<u32>;

var<workgroup> counters: array<u32, COUNTERS>;
var<workgroup> run_sums: array<u32, WIDTH>;

fn digit_of(key: u32) -> u32 {
    return (key >> shift) & (RADIX - 1u);
}

// Replaces each counter by the sum of those before it.
fn scan_counters(lane: u32) {
    const RUN = COUNTERS / WIDTH;
    let first = lane * RUN;
    var sum = 0u;
    for (var i = 0u; i < RUN; i++) {
        let count = counters[first + i];
        counters[first + i] = sum;
        sum += count;
    }
    run_sums[lane] = sum;
    workgroupBarrier();
    for (var distance = 1u; distance < WIDTH; distance *= 2u) {
        var below = 0u;
        if lane >= distance {
            below = run_sums[lane - distance];
        }
        workgroupBarrier();
        run_sums[lane] += below;
        workgroupBarrier();
    }
    let before = run_sums[lane] - sum;
    for (var i = 0u; i < RUN; i++) {
        counters[first + i] += before;
    }
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) lane: u32) {
    let start = block.x * BLOCK;
    let count = min(arrayLength(&keys) - start, BLOCK);
    let first = lane * KEYS_EACH;
    let last = min(first + KEYS_EACH, count);

    for (var digit = 0u; digit < RADIX; digit++) {
        counters[digit * WIDTH + lane] = 0u;
    }
    for (var i = first; i < last; i++) {
        counters[digit_of(keys[start + i]) * WIDTH + lane] += 1u;
    }
    workgroupBarrier();
    scan_counters(lane);
    workgroupBarrier();

    if lane < RADIX {
        let begin = counters[lane * WIDTH];
        var end = count;
        if lane + 1u < RADIX {
            end = counters[(lane + 1u) * WIDTH];
        }
        digit_counts[block.x * RADIX + lane] = end - begin;
    }
    workgroupBarrier();

    for (var i = first; i < last; i++) {
        let key = keys[start + i];
        let counter = digit_of(key) * WIDTH + lane;
        sorted[start + counters[counter]] = key;
        counters[counter]++;
    }
}
