@compute @workgroup_size(1)
fn main() {
    let position = vec3(1.0);
    let x = postion.x;
    let y = vec3v(1.0);
    let z = frobnicate(1);
}
// a name is not declared
