// Sorts blocks of `width` keys, a power of two, each in the memory of one workgroup. Keys missing in the last
// block count as greatest.

override width: u32 = 128;

const GREATEST = 0xffffffffu;

@group(0) @binding(0) var<storage, read_write> keys: array<u32>;

var<workgroup> block: array<u32, width>;

@compute @workgroup_size(width)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    let exists = id.x < arrayLength(&keys);
    if exists {
        block[local] = keys[id.x];
    } else {
        block[local] = GREATEST;
    }
    workgroupBarrier();

    for (var run = 2u; run <= width; run <<= 1u) {
        for (var reach = run >> 1u; reach > 0u; reach >>= 1u) {
            let partner = local ^ reach;
            let mine = block[local];
            let other = block[partner];
            let keeps_smaller = (local < partner) == ((local & run) == 0u);
            workgroupBarrier();
            block[local] = select(max(mine, other), min(mine, other), keeps_smaller);
            workgroupBarrier();
        }
    }
    if exists {
        keys[id.x] = block[local];
    }
}
