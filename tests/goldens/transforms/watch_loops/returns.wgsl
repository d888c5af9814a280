// passes: watch_loops
// the entry point returns early, and takes a structure; the loop that watches comes after all
struct Ids { @builtin(local_invocation_index) local: u32 }
@group(0) @binding(0) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(4, 1)
fn main(ids: Ids, @builtin(workgroup_id) turns: vec3u) {
    if ids.local == 2 {
        return;
    }
    for (var i = 0u; i < sums[ids.local]; i++) {
        sums[ids.local + 4] += turns.x + i;
    }
}
