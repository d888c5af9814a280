fn sign_of(x: f32) -> i32 {
    if x > 0 {
        return 1;
    }
}
// a function that returns a value can end without one
