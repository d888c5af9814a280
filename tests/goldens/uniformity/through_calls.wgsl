var<workgroup> tile: array<u32, 64>;

fn stage(limit: u32) {
    if limit > 4u {
        workgroupBarrier();
    }
}

fn prepare(limit: u32) {
    stage(limit + 1u);
}

fn pick(index: u32) -> u32 {
    return tile[index];
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>) {
    prepare(group.x);
    prepare(pick(group.x));
}
