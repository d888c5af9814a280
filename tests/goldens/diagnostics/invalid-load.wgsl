var<workgroup> count: atomic<u32>;

@compute @workgroup_size(1)
fn main() {
    let n = count;
}
// a value is read that memory cannot give as a whole
