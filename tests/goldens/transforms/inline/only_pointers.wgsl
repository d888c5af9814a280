// passes: inline{only=pointers}
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

fn twice(x: u32) -> u32 { return 2 * x; }
fn bump(p: ptr<function, u32>) { *p = twice(*p); }
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var x = i; bump(&x); data[i] = twice(x);
}
