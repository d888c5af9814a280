// Control of the workgroup depends on a value that one invocation read at its own index. Only the read that decides is
// the same for all invocations.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> tile: array<u32, 4>;
var<workgroup> chosen: u32;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32) {
    tile[lane] = data[lane];
    workgroupBarrier();
    let other = tile[3 - lane];
    if lane == 1 {
        chosen = other;
    }
    if workgroupUniformLoad(&chosen) > 3 {
        tile[lane] = other + 1;
        workgroupBarrier();
        data[lane] = tile[(lane + 1) & 3];
    }
}
