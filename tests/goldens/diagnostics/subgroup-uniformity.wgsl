enable subgroups;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    var sum = lane;
    if lane < 32 {
        sum = subgroupAdd(lane);
    }
}
// a subgroup or quad operation is used where control flow may not be uniform
