@group(0) @binding(0) var<storage, read_write> totals: array<atomic<u32>, 4>;
@group(0) @binding(1) var<storage, read> data: array<u32>;
var<workgroup> counts: array<atomic<u32>, 4>;

@compute @workgroup_size(8u, 1u, 1u)
fn main(@builtin(local_invocation_id) local_invocation_id: vec3u) {
    let local_invocation_id_x = local_invocation_id.x;
    atomicAdd(&counts[data[local_invocation_id_x] & 3u], 1u);
    workgroupBarrier();
    if local_invocation_id_x < 4u {
        atomicMax(&totals[local_invocation_id_x], atomicLoad(&counts[local_invocation_id_x]));
        var v: u32;
        loop {
            let t = atomicCompareExchangeWeak(&totals[local_invocation_id_x], 2u, 100u);
            let old_value = t.old_value;
            v = old_value;
            if t.exchanged | (old_value != 2u) {
                break;
            }
        }
        let t_1 = v;
        if t_1 == 2u {
            atomicSub(&totals[0u], t_1);
        }
    }
}
