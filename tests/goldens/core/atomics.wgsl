struct Counters { total: atomic<u32>, low: atomic<i32> }
@group(0) @binding(0) var<storage, read_write> counters: Counters;
var<workgroup> local: array<atomic<u32>, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  atomicStore(&local[i], 0u);
  workgroupBarrier();
  let old = atomicAdd(&local[0], i);
  let result = atomicCompareExchangeWeak(&counters.low, 3, -1);
  if result.exchanged {
    atomicMax(&counters.total, old + atomicLoad(&local[1]));
  }
}
