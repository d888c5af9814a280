@compute @workgroup_size(1)
fn main() {
    let x = 1;
    _ = x(2);
    _ = storage(2);
}
// what is called is neither function nor type
