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
@compute @workgroup_size(4, 2)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
    let g = w.x * 8u + i;
    let zero = n & 0u; // keeps literals from being const-expressions, which may be errors
    _ = &totals; _ = &data;
    var local = array<u32, 10>();
    var v1 = data[i];
    var v2 = (max(g, g) + ((zero + 4u) | g));
    v2 = walk(&v1, (i - v1));
    for (var t3 = 0u; t3 < (n + 2u) % 4u; t3++) {
        for (var t4 = 0u; t4 < (t3 + 1u) % 4u; t4++) {
            local[((zero + 10u) ^ v2)] = v2;
            for (var t5 = 0u; t5 < (t3 + 0u) % 4u; t5++) {
                switch ((t3 >> (v2 % v2)) % 4u) {
                    case 1u: {
                    for (var k6 = 0u; k6 < ((zero + 6u)) % 6u; k6++) {
                        v2 ^= (t3 - (t3 & t4));
                        v2 += data[i];
                        v1 -= local[i];
                        if (g == data[i]) { continue; }
                        v2 -= (((zero + 9u) * t4) << (t4 & t3));
                    }
                    }
                    case 2u, default: {
                    for (var k7 = 0u; k7 < ((v2 - i)) % 6u; k7++) {
                        v1 -= (select(k7, g, data[i] >= t4) ^ v1);
                        v1 -= ((i & k7) & local[(zero + 4u)]);
                        v2 ^= (v2 - (k7 ^ i));
                        if (t5 >= v1) { continue; }
                        v1 *= data[i];
                    }
                    for (var k8 = 0u; k8 < ((data[i] + t5)) % 6u; k8++) {
                        v1 ^= t5;
                        if (t3 == (zero + 9u)) { continue; }
                        v1 ^= ((k8 | v1) + select(k8, v1, i < t5));
                    }
                    }
                }
                for (var k9 = 0u; k9 < ((g * v1)) % 6u; k9++) {
                    var v10 = t3;
                    v2 = min((data[i] * g), (i << v1));
                    v2 -= k9;
                    if (data[i] <= (zero + 20u)) { break; }
                    v1 *= min((v2 >> g), (v2 / (zero + 18u)));
                }
                for (var k11 = 0u; k11 < ((t5 ^ t3)) % 6u; k11++) {
                    if (((zero + 8u) + i) >= data[i]) {
                        v1 -= (local[v1] + max((zero + 9u), data[i]));
                        v2 -= mix(v2, (v2 % t5));
                    } else {
                        v1 = ((t3 & v2) >> (v1 >> i));
                    }
                }
            }
        }
        for (var t12 = 0u; t12 < (w.x + 2u) % 4u; t12++) {
            if ((t3 + 2u) % 4u > 3u) {
                for (var k13 = 0u; k13 < (v2) % 6u; k13++) {
                    v2 ^= ((data[i] & t12) >> (v1 - (zero + 3u)));
                    v1 *= k13;
                }
            } else {
            }
        }
    }
    if ((select(v1, g, v1 < i) != mix(v2, v2)) && (data[i] != (zero + 2u))) {
        if ((v2 >> data[i]) < select(g, v1, data[i] != v1)) {
            local[((zero + 17u) / v2)] = local[(v2 | g)];
            atomicXor(&totals[g % 4u], g);
        }
        v2 = walk(&v1, (g / (zero + 17u)));
    }
    out[g] = v1 ^ v2 ^ state ^ local[3] ^ local[i];
}
