@compute @compute @workgroup_size(1)
fn main() {
}
// an attribute is given twice
