@compute @workgroup_size(1)
fn main() {
    
}

fn again() {
    main();
}

const x = size();

fn size() -> u32 {
    return 1;
}
// a call that cannot stand here, such as one of an entry point
