// passes: direct_variable_access
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

var<private> state: array<u32, 2>;
fn swap(a: ptr<function, u32>, b: ptr<function, u32>) { let t = *a; *a = *b; *b = t; }
fn step(s: ptr<private, u32>) -> u32 { *s = *s * 5 + 1; return *s; }
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var a = array(1u, 2u, 3u);
    var b = 4u;
    swap(&a[i % 3], &b);
    data[i] = a[0] + b * step(&state[i & 1]) + step(&state[0]);
}
