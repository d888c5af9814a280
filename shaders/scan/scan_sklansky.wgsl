// Inclusive prefix sums of blocks of 512 numbers in 256 invocations, after Sklansky: in each round the upper half of
// every segment adds the last sum of the lower half.

const ELEMENTS = 512u;
const INVOCATIONS = 256u;

@group(0) @binding(0) var<storage, read> values: array<i32>;
@group(0) @binding(1) var<storage, read_write> sums: array<i32>;
@group(0) @binding(2) var<storage, read_write> block_sums: array<i32>;

var<workgroup> segment: array<i32, ELEMENTS>;

@compute @workgroup_size(INVOCATIONS)
fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_id) lid: vec3u) {
    let start = wg.x * ELEMENTS;
    let n = arrayLength(&values);
    for (var i = lid.x; i < ELEMENTS; i += INVOCATIONS) {
        segment[i] = 0;
        if start + i < n {
            segment[i] = values[start + i];
        }
    }

    for (var half = 1u; half < ELEMENTS; half *= 2u) {
        workgroupBarrier();
        let lower = lid.x / half * half * 2u;
        let last = lower + half - 1u;
        segment[last + 1u + lid.x % half] += segment[last];
    }
    workgroupBarrier();

    for (var i = lid.x; i < ELEMENTS; i += INVOCATIONS) {
        if start + i < n {
            sums[start + i] = segment[i];
        }
    }
    if lid.x == 0u {
        block_sums[wg.x] = segment[ELEMENTS - 1u];
    }
}
