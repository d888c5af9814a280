fn spread(lane: u32, cell: ptr<function, u32>) {
    *cell = lane;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    var count = 0u;
    spread(lane, &count);
    for (var i = 0u; i < count; i++) {
        workgroupBarrier();
    }
}
