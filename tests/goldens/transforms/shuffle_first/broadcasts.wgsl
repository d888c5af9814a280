// passes: shuffle_first
// a scalar in a loop whose next value depends on it, a vector in a function, and one that nothing uses
enable subgroups;
@group(0) @binding(0) var<storage, read_write> sums: array<f32>;

fn first(value: vec2f) -> vec2f {
    return subgroupBroadcastFirst(value * 2);
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) index: u32) {
    var sum = f32(index);
    for (var i = 0u; i < 3; i++) {
        sum = subgroupBroadcastFirst(sum + f32(i));
    }
    _ = subgroupBroadcastFirst(index);
    sums[index] = sum + first(vec2f(sum, f32(index))).y;
}
