// One compare-and-exchange step of a bitonic sort in global memory: `block` is the length of the runs being
// merged, `reach` the distance of the partners, both powers of two.

struct Step {
    block: u32,
    reach: u32,
}

@group(0) @binding(0) var<uniform> merge: Step;
@group(0) @binding(1) var<storage, read_write> keys: array<f32>;

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    let partner = i ^ merge.reach;
    if partner <= i || partner >= arrayLength(&keys) {
        return;
    }
    let ascending = (i & merge.block) == 0u;
    let lower = keys[i];
    let upper = keys[partner];
    if (lower > upper) == ascending {
        keys[i] = upper;
        keys[partner] = lower;
    }
}
