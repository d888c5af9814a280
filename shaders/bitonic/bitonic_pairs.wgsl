// Sorts blocks of 512 keys in workgroup memory with a bitonic network. Each of 256 invocations compares and swaps one
// pair in every step, so that none is idle.

const N = 512u;

@group(0) @binding(0) var<storage, read_write> keys: array<i32>;

var<workgroup> block: array<i32, N>;

fn key_at(i: u32) -> i32 {
    if i < arrayLength(&keys) {
        return keys[i];
    }
    return 0x7fffffff;
}

@compute @workgroup_size(N / 2)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let t = local.x;
    let start = group.x * N;
    block[t] = key_at(start + t);
    block[t + N / 2u] = key_at(start + t + N / 2u);

    for (var k = 2u; k <= N; k *= 2u) {
        for (var j = k / 2u; j > 0u; j /= 2u) {
            workgroupBarrier();
            let i = 2u * t - (t & (j - 1u));
            let a = block[i];
            let b = block[i + j];
            let ascending = (i & k) == 0u;
            if (a > b) == ascending {
                block[i] = b;
                block[i + j] = a;
            }
        }
    }
    workgroupBarrier();

    if start + t < arrayLength(&keys) {
        keys[start + t] = block[t];
    }
    if start + t + N / 2u < arrayLength(&keys) {
        keys[start + t + N / 2u] = block[t + N / 2u];
    }
}
