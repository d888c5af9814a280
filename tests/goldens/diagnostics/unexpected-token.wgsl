@compute @workgroup_size(1)
fn main() {
    let x = 1 + ;
    for (;;;) {
    }
}

function f() {
}
// a token stands where it cannot
