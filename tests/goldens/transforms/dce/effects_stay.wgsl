// passes: dce
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

var<workgroup> n: atomic<u32>;
fn n_of(x: u32) -> u32 { return x + data[x]; }
fn count() -> u32 { return atomicAdd(&n, 1); }
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let dead = count();
    let unused = n_of(i);
    workgroupBarrier();
    data[i] = atomicLoad(&n);
}
