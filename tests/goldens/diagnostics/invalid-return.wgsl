fn f() -> i32 {
    return;
}

fn g() {
    return 1;
}
// a return without the value its function must return, or with one it does not return
