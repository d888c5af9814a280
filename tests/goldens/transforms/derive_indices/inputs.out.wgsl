struct Inputs {
    group: u32,
    groups: vec3u,
}

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

override width: u32 = 4u;

@compute @workgroup_size(width, 2u)
fn single(
    @builtin(workgroup_id) workgroup_id: vec3u,
    @builtin(num_workgroups) num_workgroups: vec3u,
    @builtin(local_invocation_index) local_invocation_index: u32,
) {
    let t = ((workgroup_id.z * num_workgroups.y + workgroup_id.y) * num_workgroups.x + workgroup_id.x) * width * 2u + local_invocation_index;
    out[t] = t;
}

@compute @workgroup_size(4)
fn member(
    @builtin(workgroup_id) workgroup_id: vec3u,
    @builtin(num_workgroups) num_workgroups: vec3u,
) {
    let t = Inputs((workgroup_id.z * num_workgroups.y + workgroup_id.y) * num_workgroups.x + workgroup_id.x, num_workgroups);
    out[t.group] = t.groups.x;
}
