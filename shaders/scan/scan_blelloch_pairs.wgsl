// Exclusive prefix sums of blocks of 512 numbers, after Blelloch: each of 256 invocations owns a pair of elements.

const N = 512u;

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> block_sums: array<u32>;

var<workgroup> temp: array<u32, N>;

fn value_at(i: u32) -> u32 {
    if i < arrayLength(&values) {
        return values[i];
    }
    return 0u;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let t = local.x;
    let base = group.x * N;
    temp[2u * t] = value_at(base + 2u * t);
    temp[2u * t + 1u] = value_at(base + 2u * t + 1u);

    // Sums up the tree.
    var offset = 1u;
    for (var d = N >> 1u; d > 0u; d >>= 1u) {
        workgroupBarrier();
        if t < d {
            let ai = offset * (2u * t + 1u) - 1u;
            let bi = offset * (2u * t + 2u) - 1u;
            temp[bi] += temp[ai];
        }
        offset *= 2u;
    }

    if t == 0u {
        block_sums[group.x] = temp[N - 1u];
        temp[N - 1u] = 0u;
    }

    // Down the tree: to the left what came from above, to the right that and the left half's sum.
    for (var d = 1u; d < N; d *= 2u) {
        offset >>= 1u;
        workgroupBarrier();
        if t < d {
            let ai = offset * (2u * t + 1u) - 1u;
            let bi = offset * (2u * t + 2u) - 1u;
            let left = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += left;
        }
    }
    workgroupBarrier();

    if base + 2u * t < arrayLength(&sums) {
        sums[base + 2u * t] = temp[2u * t];
    }
    if base + 2u * t + 1u < arrayLength(&sums) {
        sums[base + 2u * t + 1u] = temp[2u * t + 1u];
    }
}
