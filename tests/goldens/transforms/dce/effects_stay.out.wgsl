@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> n: atomic<u32>;

fn count() -> u32 {
    return atomicAdd(&n, 1u);
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let dead = count();
    workgroupBarrier();
    data[i] = atomicLoad(&n);
}
