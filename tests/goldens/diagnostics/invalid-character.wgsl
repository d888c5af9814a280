@compute @workgroup_size(1)
fn main() {
    let price = 3 § 2;
}
// a character that no token of WGSL starts with, or that no text may hold
