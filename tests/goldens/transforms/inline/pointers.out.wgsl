struct Pair {
    a: array<u32, 4>,
    b: u32,
}

@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var pair = Pair(array<u32, 4>(5u, 6u, 7u, 8u), 9u);
    pair.a[i] = i;
    pair.b += pair.a[i ^ 1u];
    data[i] = pair.a[i] + pair.b;
}
