// Culling: each workgroup lists its elements whose depth is in a range, in their order. A bit for each invocation says
// which are kept; the bits before its own give each its place.

struct Depths {
    nearest: f32,
    farthest: f32,
}

@group(0) @binding(0) var<uniform> depths: Depths;
@group(0) @binding(1) var<storage, read> depth: array<f32>;
@group(0) @binding(2) var<storage, read_write> visible: array<u32>;
@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

var<workgroup> ballot: array<atomic<u32>, 8>;

@compute @workgroup_size(256)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) local: u32,
    @builtin(workgroup_id) group: vec3u,
) {
    let word = local >> 5u;
    let bit = local & 31u;
    if local < 8u {
        atomicStore(&ballot[local], 0u);
    }
    workgroupBarrier();
    var is_kept = false;
    if id.x < arrayLength(&depth) {
        is_kept = depth[id.x] > depths.nearest && depth[id.x] < depths.farthest;
    }
    if is_kept {
        atomicOr(&ballot[word], 1u << bit);
    }
    workgroupBarrier();
    var place = countOneBits(atomicLoad(&ballot[word]) & ((1u << bit) - 1u));
    var total = 0u;
    for (var i = 0u; i < 8u; i++) {
        let count = countOneBits(atomicLoad(&ballot[i]));
        if i < word {
            place += count;
        }
        total += count;
    }
    if is_kept {
        visible[group.x * 256u + place] = id.x;
    }
    if local == 0u {
        counts[group.x] = total;
    }
}
