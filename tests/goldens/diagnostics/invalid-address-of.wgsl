@compute @workgroup_size(1)
fn main() {
    let v = vec2f();
    let p = &v;
}
// the address is taken of what has none
