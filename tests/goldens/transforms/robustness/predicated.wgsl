// passes: robustness{mode=predicate}
// Nothing here is out of range while it runs, but nothing says so either.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> counters: array<atomic<u32>, 16>;

fn first(p: ptr<function, array<u32, 16>>, i: u32) -> u32 {
    return (*p)[i];
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) index: u32) {
    var own: array<u32, 16>;
    let at = data[index];
    own[at] = 3;
    own[at + 1] = own[at] + data[at + 2];
    atomicAdd(&counters[at], own[at + 1]);
    let before = atomicMax(&counters[at + 1], 2);
    data[at + 8] += before + vec4u(1, 2, 3, 4)[at & 3] + vec3u(1, 2, 3)[at % 4] + first(&own, at);
}
