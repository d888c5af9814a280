@compute @workgroup_size(1)
fn main() {
    max(1, 2);
    vec2f(1, 2);
}
// a value is computed and not used
