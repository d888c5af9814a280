@compute @workgroup_size(1)
fn main() {
    let x = 1.0;
    let y = x[0];
    let z = x.real;
}
// a value that has no elements is indexed, or one that has no members is asked for one
