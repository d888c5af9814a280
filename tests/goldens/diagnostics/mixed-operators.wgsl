@compute @workgroup_size(1)
fn main() {
    let x = 1;
    let y = x & 3 == 1;
    let z = x << 2 + 1;
    let w = true && false || true;
}
// operators that WGSL lets nobody mix without parentheses
