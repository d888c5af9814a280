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
@compute @workgroup_size(8, 1)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
    let g = w.x * 8u + i;
    let zero = n & 0u; // keeps literals from being const-expressions, which may be errors
    _ = &totals; _ = &data;
    var local = array<u32, 10>();
    var v1 = data[i];
    var v2 = local[(v1 - data[i])];
    for (var t3 = 0u; t3 < (n + 0u) % 4u; t3++) {
        for (var k4 = 0u; k4 < (((zero + 20u) | g)) % 6u; k4++) {
            state = state * 5u + (i % v1);
            if ((local[i] > k4) && (i >= (zero + 15u))) {
                v1 *= ((v1 | g) << (k4 * v2));
                if ((mix(data[i], g) > (k4 & t3)) || (g != k4)) {
                    state = state * 5u + (i * v2);
                    if ((k4 != i) || (data[i] >= v2)) {
                        v2 += i;
                        v1 *= v1;
                    } else {
                        v2 = max((t3 ^ (zero + 17u)), (v2 | v1));
                        v1 *= ((k4 << (zero + 3u)) % (data[i] * v2));
                    }
                    v2 -= (t3 - ((zero + 14u) / v1));
                } else {
                    if ((zero + 7u) == (zero + 2u)) {
                        v2 ^= (select(g, g, data[i] >= k4) | (t3 / k4));
                    }
                    for (var k5 = 0u; k5 < (i) % 6u; k5++) {
                        v2 += g;
                        v2 = k5;
                        if (v1 >= data[i]) { break; }
                        v1 = (((zero + 16u) % (zero + 9u)) * (v1 ^ i));
                    }
                }
            } else {
                v2 += select((t3 * g), k4, (t3 << k4) > v1);
                v2 = (((zero + 14u) + v2) - (v1 - (zero + 9u)));
            }
            for (var k6 = 0u; k6 < ((g / i)) % 6u; k6++) {
                var v7 = v1;
                switch (mix((v7 << v2), (k4 * g)) % 4u) {
                    case 1u: {
                    v7 += ((k4 << k6) ^ (zero + 0u));
                    }
                    case 2u, default: {
                    switch (((i ^ i) / (g >> k4)) % 4u) {
                        case 1u: {
                        v2 -= mix((t3 % v7), (v1 * k4));
                        }
                        case 2u, default: {
                        v1 += mix(min(v7, data[i]), g);
                        v7 -= ((k4 % data[i]) & (i / v1));
                        }
                    }
                    v2 += g;
                    }
                }
                for (var k8 = 0u; k8 < (t3) % 6u; k8++) {
                    v7 += ((k4 & v7) & v2);
                    var v9 = (v2 << g);
                }
                if (i >= t3) { continue; }
                v2 = ((data[i] ^ g) * (k4 | k4));
            }
        }
        for (var t10 = 0u; t10 < (t3 + 0u) % 4u; t10++) {
            if ((n + 2u) % 4u > 3u) {
                v2 += ((t3 / g) - (v2 / (zero + 14u)));
                switch (local[(zero + 17u)] % 4u) {
                    case 1u: {
                    if (local[(zero + 17u)] != (t3 ^ data[i])) {
                        v2 += (g & mix(data[i], v2));
                    } else {
                        v2 -= (((zero + 1u) - v1) | (v2 / i));
                    }
                    }
                    case 2u, default: {
                    var v11 = (local[t3] | (t10 ^ t3));
                    if ((v2 - (zero + 12u)) != (v1 * t10)) {
                        v1 += v1;
                        v11 *= ((v11 * v2) ^ local[g]);
                        v11 *= v11;
                    }
                    }
                }
            } else {
                var v12 = (max(t3, v2) * (v2 >> v2));
                var v13 = select(t10, g, (data[i] & t3) <= min(data[i], v2));
            }
            if (t10 == (w.x + 0u) % 4u) { continue; }
            v2 *= ((i % data[i]) * i);
        }
    }
    var v14 = data[i];
    if ((n + 0u) % 4u > 2u) {
        if (((data[i] >> v1) <= (v2 % i)) || (v2 > v2)) {
            for (var k15 = 0u; k15 < (v14) % 6u; k15++) {
                if (select(g, v2, k15 != v14) <= max(g, i)) {
                    v2 ^= (min(i, v14) ^ (i / data[i]));
                    atomicXor(&totals[(k15 / g) % 4u], (k15 - v14));
                } else {
                    var v16 = v1;
                    switch (v2 % 4u) {
                        case 1u: {
                        v16 += (mix(v16, k15) * (v14 - v16));
                        }
                        case 2u, default: {
                        v16 = v2;
                        v1 = max((k15 / v16), local[v2]);
                        }
                    }
                }
                for (var k17 = 0u; k17 < (((zero + 16u) | (zero + 1u))) % 6u; k17++) {
                    if ((data[i] == max(data[i], k17)) || (g < v2)) {
                        v1 += i;
                        v2 *= (mix(k17, (zero + 3u)) << local[g]);
                        v2 += max((i % v2), k15);
                    }
                    var v18 = local[select(i, v1, (zero + 4u) == v1)];
                    if ((zero + 8u) > g) { break; }
                    if ((v14 <= data[i]) && (v1 >= k17)) {
                        v2 *= k15;
                    }
                }
                if (v2 == v1) { break; }
                v1 = walk(&v1, (g - k15));
            }
        }
    } else {
        if ((n + 0u) % 4u > 1u) {
            atomicAdd(&counts[(v2 ^ v2) % 4u], (v14 ^ (zero + 2u)));
            workgroupBarrier();
            let x19 = atomicLoad(&counts[mix((zero + 16u), v1) % 4u]);
            workgroupBarrier();
        } else {
            if ((i >> data[i]) < (zero + 20u)) {
                local[(i * v1)] = ((v14 * v1) - (v2 * v1));
                for (var k20 = 0u; k20 < (local[v14]) % 6u; k20++) {
                    for (var k21 = 0u; k21 < ((data[i] % g)) % 6u; k21++) {
                        v14 *= ((i * k20) + select((zero + 12u), data[i], i > (zero + 4u)));
                        v2 -= g;
                    }
                    v14 ^= (max(i, v1) - (g % k20));
                }
                v2 = walk(&v2, v1);
            }
        }
    }
    out[g] = v1 ^ v2 ^ v14 ^ state ^ local[3] ^ local[i];
}
