enable subgroups;

struct Inputs {
    local: vec3u,
    group: u32,
}

@group(0) @binding(0) var<storage, read_write> out: array<vec4u>;

@compute @workgroup_size(24u)
fn main(
    @builtin(local_invocation_index) i: u32,
    @builtin(subgroup_id) subgroup_id: u32,
    @builtin(workgroup_id) workgroup_id: vec3u,
) {
    let t = i / 4u;
    let t_1 = Inputs(vec3u(i % 4u, t % 3u, t / 3u), subgroup_id);
    let t_2 = i / 4u;
    out[i] = vec4u(t_1.local, t_1.group);
    out[24u + i] = vec4u(workgroup_id * vec3u(4u, 3u, 2u) + vec3u(i % 4u, t_2 % 3u, t_2 / 3u), 0u);
}
