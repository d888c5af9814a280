@group(0) @binding(0) var<storage, read_write> values: array<f32>;

var<workgroup> tile: array<f32, 8192>;

@compute @workgroup_size(512)
fn main(@builtin(local_invocation_index) i: u32) {
    tile[i] = values[i];
    workgroupBarrier();
    values[i] = tile[511 - i];
}
// a workgroup takes more than every device has: a device that has more must be asked for it
