// Inclusive prefix sums of blocks of 1024 numbers. Each of 64 invocations sums a run of 16, the 64 sums are scanned,
// and each invocation goes through its run once more, starting at the sum before it.

const LANES = 64u;
const RUN = 16u;
const BLOCK = LANES * RUN;

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> block_sums: array<u32>;

var<workgroup> items: array<u32, BLOCK>;
var<workgroup> run_sums: array<u32, LANES>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let start = group.x * BLOCK;
    let count = min(arrayLength(&values) - start, BLOCK);
    for (var k = lane; k < BLOCK; k += LANES) {
        var item = 0u;
        if k < count {
            item = values[start + k];
        }
        items[k] = item;
    }
    workgroupBarrier();

    var sum = 0u;
    for (var k = 0u; k < RUN; k++) {
        sum += items[lane * RUN + k];
    }
    run_sums[lane] = sum;

    for (var reach = 1u; reach < LANES; reach <<= 1u) {
        workgroupBarrier();
        let below = select(0u, run_sums[max(lane, reach) - reach], lane >= reach);
        workgroupBarrier();
        run_sums[lane] += below;
    }
    workgroupBarrier();

    var running = run_sums[lane] - sum;
    for (var k = 0u; k < RUN; k++) {
        running += items[lane * RUN + k];
        items[lane * RUN + k] = running;
    }
    workgroupBarrier();

    for (var k = lane; k < count; k += LANES) {
        sums[start + k] = items[k];
    }
    if lane == 0u {
        block_sums[group.x] = run_sums[LANES - 1u];
    }
}
