enable subgroups;

@compute @workgroup_size(64)
fn main(@builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_id) subgroup: u32) {
    if subgroup == 0u {
        _ = subgroupShuffleUp(lane, lane);
        workgroupBarrier();
    }
}
