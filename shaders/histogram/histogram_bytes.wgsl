// How often each byte occurs in a text, of which a word holds four. Invocations stride over the words, so that any
// number of workgroups will do.

@group(0) @binding(0) var<uniform> length: u32; // in bytes
@group(0) @binding(1) var<storage, read> text: array<u32>;
@group(0) @binding(2) var<storage, read_write> frequencies: array<atomic<u32>, 256>;

var<workgroup> tally: array<atomic<u32>, 256>;

@compute @workgroup_size(256)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    atomicStore(&tally[lane], 0u);
    workgroupBarrier();

    let whole = length / 4u;
    let stride = groups.x * 256u;
    for (var i = id.x; i < whole; i += stride) {
        let word = text[i];
        atomicAdd(&tally[word & 0xffu], 1u);
        atomicAdd(&tally[(word >> 8u) & 0xffu], 1u);
        atomicAdd(&tally[(word >> 16u) & 0xffu], 1u);
        atomicAdd(&tally[word >> 24u], 1u);
    }
    let rest = length % 4u;
    if id.x < rest {
        atomicAdd(&tally[(text[whole] >> (8u * id.x)) & 0xffu], 1u);
    }
    workgroupBarrier();

    atomicAdd(&frequencies[lane], atomicLoad(&tally[lane]));
}
