@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<private> state: array<u32, 2>;

fn swap_1(a: ptr<function, array<u32, 3>>, a_index: u32, b: ptr<function, u32>) {
    let t = (*a)[a_index];
    (*a)[a_index] = *b;
    *b = t;
}

fn step_1(s_index: u32) -> u32 {
    state[s_index] = state[s_index] * 5u + 1u;
    return state[s_index];
}

fn step_2(s_index: i32) -> u32 {
    state[s_index] = state[s_index] * 5u + 1u;
    return state[s_index];
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var a = array<u32, 3>(1u, 2u, 3u);
    var b = 4u;
    swap_1(&a, i % 3u, &b);
    data[i] = a[0] + b * step_1(i & 1u) + step_2(0);
}
