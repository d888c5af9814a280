@compute @workgroup_size(64)
fn main(@builtin(local_invocation_id) id: vec3<u32>) {
    if id.x == 0u {
        workgroupBarrier();
        storageBarrier();
    }
    if id.y == 0u && id.x == 1u {
        workgroupBarrier();
    }
}
