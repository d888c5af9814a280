@compute @workgroup_size(1)
fn main() {
    let size = 4;
    const twice = size * 2;
}
// a place needs a value that is known early
