@compute
fn main() {
}
// a compute shader lacks its attribute `workgroup_size`
