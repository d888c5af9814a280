const size = 1;

@compute @workgroup_size(1)
fn main() {
    let x = size;
    let x = 2;
}
// a name is declared twice in one scope
