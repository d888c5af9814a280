@compute @workgroup_size(1)
fn main() {
    let a = 1u + 2i;
    let b = !1;
    let c = true && 1;
}
// no operator takes operands of these types
