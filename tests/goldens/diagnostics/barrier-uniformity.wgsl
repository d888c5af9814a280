@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    if lane < 32 {
        workgroupBarrier();
    }
}
// a barrier must be reached by all invocations of a workgroup together, and may not be
