@compute @workgroup_size(1)
fn main() {
    loop {
        continue;
    }
}
// a loop has no way out
