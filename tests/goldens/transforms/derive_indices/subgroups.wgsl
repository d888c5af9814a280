// passes: derive_indices
// with the number of a subgroup, workgroups of three dimensions have one
enable subgroups;
struct Inputs { @builtin(local_invocation_id) local: vec3u, @builtin(subgroup_id) group: u32 }

@group(0) @binding(0) var<storage, read_write> out: array<vec4u>;

@compute @workgroup_size(4, 3, 2)
fn main(inputs: Inputs, @builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
    out[i] = vec4u(inputs.local, inputs.group);
    out[24 + i] = vec4u(id, 0);
}
