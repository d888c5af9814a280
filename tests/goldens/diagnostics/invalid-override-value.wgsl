// constants: count=-1
override count: u32;

@compute @workgroup_size(1)
fn main() {
    _ = count;
}
// the value that the pipeline gives an override does not fit its type
