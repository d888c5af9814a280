@compute @workgroup_size(1)
fn main() {
    _ = atomic<u32>(1);
}
// a type has no values that could be constructed
