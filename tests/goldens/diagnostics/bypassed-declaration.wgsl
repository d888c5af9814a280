@compute @workgroup_size(1)
fn main() {
    loop {
        if true {
            continue;
        }
        let step = 2;
        continuing {
            _ = step;
            break if true;
        }
    }
}
// a `continue` goes around a declaration that the continuing block uses
