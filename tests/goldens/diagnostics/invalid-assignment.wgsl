@compute @workgroup_size(1)
fn main() {
    let x = 1;
    x = 2;
    var v = vec2f();
    v.xyxy = vec4f();
}
// the left side is no memory that can be written
