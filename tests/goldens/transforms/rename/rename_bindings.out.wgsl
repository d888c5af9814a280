@group(0) @binding(0) var<storage, read_write> a: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) b: u32) {
    let t = a[b];
    a[b] = t * t;
}
