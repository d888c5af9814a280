// entry: mian
@compute @workgroup_size(1)
fn main() {
    
}
// the module has no entry point of that name
