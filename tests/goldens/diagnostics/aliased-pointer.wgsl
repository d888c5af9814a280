fn add(to: ptr<function, i32>, amount: ptr<function, i32>) {
    *to += *amount;
}

@compute @workgroup_size(1)
fn main() {
    var x = 1;
    add(&x, &x);
}
// two arguments of a call give access to the same variable, and one of them writes to it
