@compute @workgroup_size(1)
fn main() {
    let v = vec2f();
    _ = v.x<i32>;
}
// template arguments follow the name of a member
