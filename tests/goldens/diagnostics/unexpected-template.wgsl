@compute @workgroup_size(1)
fn main() {
    _ = f32<i32>(1);
    _ = vec4f<u32>();
}
// template arguments follow a name that takes none
