"""Kernels with every form of control flow."""

FLOW = """
override LIMIT: u32 = 6u;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> a: array<u32>;
var<workgroup> shared_sum: array<u32, 8>;

fn odd(n: u32) -> bool { return n % 2u == 1u; }

fn steps(start: u32) -> u32 {
    var n = start;
    var count = 0u;
    while n > 1u && count < 40u {
        if odd(n) {
            n = 3u * n + 1u;
        } else {
            n /= 2u;
        }
        count++;
        if n == 16u { return count + 100u; }
    }
    return count;
}

fn uncalled(n: u32) -> u32 {
    for (var i = 0u; i < n; i++) {
        if i == 3u { break; }
    }
    return n;
}

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
    shared_sum[lane] = id.x;
    workgroupBarrier();
    var total = 0u;
    for (var i = 0u; i < 8u; i++) {
        if i == lane || (i > 5u && odd(i)) { continue; }
        total += shared_sum[i];
    }
    workgroupBarrier();
    let i = id.x;
    if i >= arrayLength(&a) {
        return;
    }
    switch a[i] % 5u {
        case 0u, 3u: { total += steps(a[i]); }
        case 1u: {
            var k = 0u;
            loop {
                if k > 9u { out[i] = 9u; return; }
                k += 2u;
                continuing {
                    total += k;
                    break if k >= a[i];
                }
            }
        }
        case default: {
            for (var k = a[i]; k > LIMIT; k--) {
                if k == 20u { break; }
                total += steps(k);
            }
        }
    }
    if false { total = 0u; }
    out[i] = total;
    return;
}
"""
"""Loops of all kinds with all ways out, early returns, functions called in loops, short-circuits, barriers."""

SPREAD = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var x = id.x;
    for (var i = 0u; i < 1000u * id.x; i++) {
        x = x * 1664525u + 1013904223u;
    }
    out[id.x] = x;
}
"""
"""A loop that makes up to 63,000 iterations."""

SAMPLES = """
@group(0) @binding(0) var t: texture_2d<f32>;
@group(0) @binding(1) var s: sampler;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

fn level(t: texture_2d<f32>, n: u32) -> f32 {
    if n % 3u == 0u { return 0; }
    return textureSampleLevel(t, s, vec2f(f32(n) / 8, 0.5), 0).x;
}

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var sum = 0.0;
    for (var n = 0u; n < id.x; n++) {
        if level(t, n) > 0.5 { sum += 1; }
    }
    out[id.x] = sum;
}
"""
