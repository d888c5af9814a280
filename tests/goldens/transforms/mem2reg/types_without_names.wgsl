// passes: mem2reg
@group(0) @binding(0) var<storage, read_write> o: array<atomic<u32>, 4>;
@group(0) @binding(1) var<storage, read_write> p: array<u32, 4>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var sum = 0u;
    var r = atomicCompareExchangeWeak(&o[id.x], 1u, 2u);
    if id.x > 3 {
        r = atomicCompareExchangeWeak(&o[id.y], 1u, 2u);
    } else {
        r.old_value = 7;
    }
    if r.exchanged {
        sum += r.old_value;
    }
    var parts = frexp(f32(sum));
    for (var i = 0u; i < 4; i++) {
        r = atomicCompareExchangeWeak(&o[i], i, 7u);
        sum += r.old_value;
        parts.exp += i32(sum);
    }
    p[id.x] = sum + u32(parts.exp);
}
