@compute @workgroup_size(1)
fn main() {
    let x = 1
    let y = 2;
}
// something is lacking in front of what follows
