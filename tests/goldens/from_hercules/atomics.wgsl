// Atomics of workgroup memory and of storage; an exchange by comparison is repeated until it has an outcome.
@group(0) @binding(0) var<storage, read_write> totals: array<atomic<u32>, 4>;
@group(0) @binding(1) var<storage, read> data: array<u32>;
var<workgroup> counts: array<atomic<u32>, 4>;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
    atomicAdd(&counts[data[i] & 3u], 1u);
    workgroupBarrier();
    if i < 4u {
        atomicMax(&totals[i], atomicLoad(&counts[i]));
        let result = atomicCompareExchangeWeak(&totals[i], 2u, 100u);
        if result.exchanged {
            atomicSub(&totals[0], result.old_value);
        }
    }
}
