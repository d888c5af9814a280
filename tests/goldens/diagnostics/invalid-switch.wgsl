@compute @workgroup_size(1)
fn main() {
    switch 1 {
        case 1, 2: {
        }
        case 2: {
        }
    }
}
// the clauses of a switch break its rules
