// passes: inline
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

struct Pair { a: array<u32, 4>, b: u32 }
fn add(p: ptr<function, u32>, by: u32) { *p += by; }
fn put(p: ptr<function, array<u32, 4>>, k: u32) -> u32 { (*p)[k] = k; return (*p)[k ^ 1]; }
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var pair = Pair(array(5, 6, 7, 8), 9);
    let p = &pair.a;
    add(&pair.b, put(p, i));
    data[i] = pair.a[i] + pair.b;
}
