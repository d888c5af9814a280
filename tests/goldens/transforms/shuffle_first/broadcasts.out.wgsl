enable subgroups;

@group(0) @binding(0) var<storage, read_write> sums: array<f32>;

fn first(value: vec2f) -> vec2f {
    return subgroupShuffle(value * 2.0, countTrailingZeros(subgroupBallot(true).x));
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) index: u32) {
    var sum = f32(index);
    for (var i = 0u; i < 3u; i++) {
        sum = subgroupShuffle(sum + f32(i), countTrailingZeros(subgroupBallot(true).x));
    }
    _ = subgroupShuffle(index, countTrailingZeros(subgroupBallot(true).x));
    sums[index] = sum + first(vec2f(sum, f32(index))).y;
}
