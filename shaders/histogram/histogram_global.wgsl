// Counts how often each byte value occurs; every byte is one atomic addition in the buffer of counts.

@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, 256>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&words) {
        return;
    }
    let word = words[id.x];
    for (var shift = 0u; shift < 32u; shift += 8u) {
        atomicAdd(&counts[extractBits(word, shift, 8u)], 1u);
    }
}
