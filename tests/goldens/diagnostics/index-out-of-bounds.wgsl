@compute @workgroup_size(1)
fn main() {
    let v = vec3f();
    let w = v[3];
}
// an index that is known early lies outside
