// passes: cse
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@group(0) @binding(1) var<storage, read_write> other: array<u32>;
var<workgroup> w: array<u32, 4>;
fn touch() { data[5] += 1; }
@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    let a = data[i] + data[i];
    other[i] = a;
    let b = data[i] + other[i];
    data[(i + 1) % 4] = b;
    let c = data[i];
    touch();
    w[i] = c + data[i];
    workgroupBarrier();
    data[i] = w[i] + w[i ^ 1];
}
