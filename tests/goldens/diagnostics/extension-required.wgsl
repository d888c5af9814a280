@compute @workgroup_size(1)
fn main() {
    var x = 1h;
}
// something is used that an `enable` directive must ask for
