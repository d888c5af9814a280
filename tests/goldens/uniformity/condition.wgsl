@compute @workgroup_size(64)
fn main(@builtin(local_invocation_id) id: vec3<u32>) {
    let is_first = id.x == 0u;
    if is_first {
        workgroupBarrier();
    }
}
