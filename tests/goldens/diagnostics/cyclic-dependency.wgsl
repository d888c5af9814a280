fn even(n: u32) -> bool {
    return n == 0 || odd(n - 1);
}

fn odd(n: u32) -> bool {
    return n != 0 && even(n - 1);
}
// declarations depend on themselves, or functions call themselves
