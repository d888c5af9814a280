@compute @workgroup_size(1)
fn main() {
    if true {
        break;
    }
}
// a `break` or `continue` stands where there is nothing to leave
