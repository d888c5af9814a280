@compute @workgroup_size(1)
fn main(@builtin(global_id) id: vec3u) {
}
// there is no built-in value of that name
