fn g() {
}

@compute @workgroup_size(1)
fn main() {
    let x = f32;
    let y = vec2f;
    _ = g();
}
// a place needs a value, and this is a type, a function, or a call that returns nothing
