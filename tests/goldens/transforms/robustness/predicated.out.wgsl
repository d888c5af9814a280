@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> counters: array<atomic<u32>, 16>;

fn first(p: ptr<function, array<u32, 16>>, i: u32) -> u32 {
    var t = 0u;
    if i <= 15u {
        t = (*p)[i];
    }
    return t;
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) index: u32) {
    var own: array<u32, 16>;
    var at = 0u;
    if index <= arrayLength(&data) - 1u {
        at = data[index];
    }
    if at <= 15u {
        own[at] = 3u;
    }
    let t = at + 1u;
    var t_1 = 0u;
    if at <= 15u {
        t_1 = own[at];
    }
    let t_2 = at + 2u;
    var t_3 = 0u;
    if t_2 <= arrayLength(&data) - 1u {
        t_3 = data[t_2];
    }
    let t_4 = t_1 + t_3;
    if t <= 15u {
        own[t] = t_4;
    }
    let t_5 = at + 1u;
    let t_6 = at <= 15u;
    var t_7 = 0u;
    if t_5 <= 15u {
        t_7 = own[t_5];
    }
    if t_6 {
        atomicAdd(&counters[at], t_7);
    }
    let t_8 = at + 1u;
    var before = 0u;
    if t_8 <= 15u {
        before = atomicMax(&counters[t_8], 2u);
    }
    let t_9 = at + 8u;
    let t_10 = t_9 <= arrayLength(&data) - 1u;
    var t_11 = 0u;
    if t_10 {
        t_11 = data[t_9];
    }
    let t_12 = t_11 + (before + vec4u(1u, 2u, 3u, 4u)[at & 3u] + vec3u(1u, 2u, 3u)[min(at % 4u, 2u)] + first(&own, at));
    if t_10 {
        data[t_9] = t_12;
    }
}
