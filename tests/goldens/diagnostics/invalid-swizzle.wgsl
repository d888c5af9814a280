@compute @workgroup_size(1)
fn main() {
    let v = vec2f();
    _ = v.xz;
    _ = v.xg;
    _ = v.size;
}
// letters that do not name components of the vector
