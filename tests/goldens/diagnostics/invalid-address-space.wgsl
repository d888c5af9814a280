@compute @workgroup_size(1)
fn main() {
    var<workgroup> shared_sum: u32;
}
// a variable stands where its address space cannot be
