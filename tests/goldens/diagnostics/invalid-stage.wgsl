@compute @workgroup_size(1)
fn main() {
    discard;
}
// something is used that the stage of the entry point does not have
