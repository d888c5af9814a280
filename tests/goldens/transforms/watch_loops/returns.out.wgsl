struct Ids {
    @builtin(local_invocation_index) local: u32,
}

@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
@group(0) @binding(255) var<storage, read_write> loop_watch: array<atomic<u32>, 3>;

fn main_watched(ids: Ids, turns: vec3u) {
    if ids.local == 2u {
        return;
    }
    for (var i = 0u; i < sums[ids.local]; i++) {
        sums[ids.local + 4u] += turns.x + i;
    }
}

@compute @workgroup_size(4, 1)
fn main(ids: Ids, @builtin(workgroup_id) turns: vec3u) {
    main_watched(ids, turns);
    var turns_1: u32;
    loop {
        turns_1++;
        if turns_1 >= atomicLoad(&loop_watch[0u]) {
            break;
        }
    }
    if turns_1 != atomicLoad(&loop_watch[1u]) {
        atomicStore(&loop_watch[2u], 1u);
    }
}
