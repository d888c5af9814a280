fn f(x: f32, y: f32) {
}

@compute @workgroup_size(1)
fn main() {
    f(1);
}
// a function is called with too few or too many arguments
