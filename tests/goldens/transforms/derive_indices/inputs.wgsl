// passes: derive_indices
struct Inputs { @builtin(workgroup_index) group: u32, @builtin(num_workgroups) groups: vec3u }

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

override width = 4u;

@compute @workgroup_size(width, 2)
fn single(@builtin(global_invocation_index) index: u32) {
    out[index] = index;
}

@compute @workgroup_size(4)
fn member(inputs: Inputs) {
    out[inputs.group] = inputs.groups.x;
}
