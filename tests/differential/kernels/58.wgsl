@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage> data: array<u32>;
@group(0) @binding(2) var<uniform> n: u32;
@group(0) @binding(3) var<storage, read_write> totals: array<atomic<u32>, 4>;
var<workgroup> tile: array<u32, 8>;
var<workgroup> counts: array<atomic<u32>, 4>;
var<private> state: u32;
fn mix(a: u32, b: u32) -> u32 { if (a > b) { return a - b; } return a * 31u + b; }
fn walk(p: ptr<function, u32>, by: u32) -> u32 {
    for (var k = 0u; k < by % 5u; k++) { *p += k; if (*p % 7u == 3u) { return *p; } }
    state += by;
    return *p ^ by;
}
@compute @workgroup_size(1, 8)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
    let g = w.x * 8u + i;
    let zero = n & 0u; // keeps literals from being const-expressions, which may be errors
    _ = &totals; _ = &data;
    var local = array<u32, 10>();
    var v1 = g;
    var v2 = v1;
    switch (w.x + 3u) % 4u {
        case 0u, 2u: {
        if ((w.x + 2u) % 4u > 0u) {
            tile[i] = (zero + 17u);
            workgroupBarrier();
            let x3 = tile[(((zero + 3u) * i)) % 8u];
            workgroupBarrier();
        } else {
            tile[i] = ((g / g) - (zero + 8u));
            workgroupBarrier();
            let x4 = tile[((data[i] | v2)) % 8u];
            workgroupBarrier();
        }
        }
        default: {
        v2 += ((i ^ data[i]) / ((zero + 4u) << i));
        v1 -= v1;
        }
    }
    v2 = walk(&v2, select(data[i], i, (zero + 6u) > i));
    for (var t5 = 0u; t5 < (w.x + 1u) % 4u; t5++) {
        if ((t5 + 1u) % 4u > 0u) {
            local[(i << i)] = (min((zero + 14u), i) / (zero + 20u));
        } else {
            v1 = walk(&v1, local[i]);
        }
    }
    for (var t6 = 0u; t6 < (w.x + 3u) % 4u; t6++) {
        switch (w.x + 0u) % 4u {
            case 0u, 2u: {
            v2 = (i / (data[i] * data[i]));
            }
            default: {
            v2 *= (g & (data[i] >> v2));
            atomicXor(&totals[min(data[i], g) % 4u], data[i]);
            }
        }
        if (t6 == (n + 3u) % 4u) { break; }
        tile[i] = (((zero + 5u) >> data[i]) | min(g, v1));
        workgroupBarrier();
        let x7 = tile[((i + v2)) % 8u];
        workgroupBarrier();
    }
    atomicAdd(&counts[((zero + 8u) % g) % 4u], (g ^ g));
    workgroupBarrier();
    let x8 = atomicLoad(&counts[(i * i) % 4u]);
    workgroupBarrier();
    out[g] = v1 ^ v2 ^ state ^ local[3] ^ local[i];
}
