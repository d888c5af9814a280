// A loop with several ways out that meet again: the code on each stays in the loop, before its break.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
fn found(first: u32) -> u32 {
    for (var i = first; i < 10u; i++) {
        if data[i] == 7u {
            return i * 2u;
        }
    }
    return 99u;
}
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    data[id.x] = found(id.x);
}
