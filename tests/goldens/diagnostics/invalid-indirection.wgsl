@compute @workgroup_size(1)
fn main() {
    var x = 1;
    let y = *x;
}
// what is dereferenced is no pointer
