override count: u32;

@compute @workgroup_size(1)
fn main() {
    _ = count;
}
// the pipeline gives no value to an override that needs one
