@compute @workgroup_size(1)
fn main() {
    let x: i32 = 1.5;
    var v: vec3f = vec4f();
    if x {
    }
}
// an expression is not of the type that its place needs
