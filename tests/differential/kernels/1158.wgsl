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
    var v2 = ((zero + 9u) - ((zero + 3u) * g));
    v2 ^= mix(((zero + 8u) << (zero + 10u)), (v1 & g));
    for (var t3 = 0u; t3 < (w.x + 3u) % 4u; t3++) {
        for (var k4 = 0u; k4 < ((v2 ^ (zero + 18u))) % 6u; k4++) {
            var v5 = k4;
            switch ((local[g] / select(g, (zero + 3u), t3 <= k4)) % 4u) {
                case 1u: {
                for (var k6 = 0u; k6 < (select(v2, v2, t3 != v2)) % 6u; k6++) {
                    local[(v5 & v5)] = (select((zero + 4u), v2, i > t3) & mix(v2, data[i]));
                    if ((k4 * k4) < (i ^ data[i])) {
                        v1 -= k4;
                    } else {
                        v5 *= ((zero + 8u) % (t3 & i));
                    }
                    for (var k7 = 0u; k7 < ((k4 % data[i])) % 6u; k7++) {
                        v5 *= k6;
                        v2 += ((k6 - v2) / (data[i] >> k4));
                    }
                }
                }
                case 2u, default: {
                if ((t3 << v5) != (v5 & data[i])) {
                    var v8 = (mix(v2, t3) ^ min((zero + 18u), g));
                    var v9 = ((v2 * v5) + (i % v8));
                }
                v1 ^= ((k4 << v1) * v5);
                }
            }
            for (var k10 = 0u; k10 < (mix(t3, t3)) % 6u; k10++) {
                v2 += ((v2 * t3) + (k4 - v1));
                state = state * 5u + (k4 ^ g);
                if (v2 < data[i]) { break; }
                if ((v5 % t3) > v1) {
                    if ((i ^ (zero + 5u)) == (zero + 9u)) {
                        v5 ^= (select(t3, i, data[i] == data[i]) >> local[v2]);
                        v5 -= (t3 | local[(zero + 12u)]);
                    } else {
                        v5 -= ((t3 % (zero + 15u)) - (v1 | t3));
                    }
                    v2 = (k10 + max(k10, k4));
                } else {
                    switch (v2 % 4u) {
                        case 1u: {
                        v1 ^= mix((k10 & v5), (data[i] & v5));
                        }
                        case 2u, default: {
                        v5 -= (t3 % (k10 + t3));
                        v5 *= k10;
                        }
                    }
                    var v11 = ((k10 | data[i]) % (v1 * g));
                }
            }
            if (v1 < v2) { break; }
            v1 *= select((data[i] / v1), (v2 & v2), (v2 ^ data[i]) > g);
        }
    }
    if ((n + 2u) % 4u > 2u) {
        if (((zero + 14u) | i) >= (v2 & i)) {
            v2 -= ((v1 & i) * v1);
            v1 = walk(&v1, (v2 & data[i]));
        } else {
            switch (((i >> v2) << (i / data[i])) % 4u) {
                case 1u: {
                var v12 = (min(v2, v2) / (i >> i));
                }
                case 2u, default: {
                v1 += v1;
                for (var k13 = 0u; k13 < (mix(i, i)) % 6u; k13++) {
                    var v14 = (k13 % k13);
                    if (data[i] > i) {
                        v1 -= ((k13 << i) >> (v2 - v1));
                        v14 += i;
                        v2 *= data[i];
                    } else {
                        v14 = v1;
                        v14 += ((v2 ^ (zero + 4u)) - (zero + 19u));
                    }
                    atomicXor(&totals[min(k13, (zero + 16u)) % 4u], (v14 * i));
                }
                }
            }
            if ((((zero + 8u) / v2) <= g) || (g >= data[i])) {
                for (var k15 = 0u; k15 < ((g + v2)) % 6u; k15++) {
                    for (var k16 = 0u; k16 < ((v1 / i)) % 6u; k16++) {
                        v1 ^= ((g / k16) >> (v1 - (zero + 2u)));
                    }
                    var v17 = ((v1 ^ v1) & min(k15, data[i]));
                    var v18 = ((k15 * i) & v17);
                }
            } else {
                for (var k19 = 0u; k19 < (select(v2, i, v2 == v2)) % 6u; k19++) {
                    v1 *= min((i ^ data[i]), (g << v1));
                    if ((v1 == (v2 / k19)) && (data[i] != g)) {
                        v2 = (v1 << (v2 & v1));
                        v2 += ((k19 + data[i]) << (k19 << data[i]));
                        v2 += (min(k19, v1) % (k19 ^ k19));
                    } else {
                        v1 ^= (k19 + k19);
                    }
                    local[(g ^ v2)] = (g * (v1 - k19));
                    if (v1 >= g) { continue; }
                    for (var k20 = 0u; k20 < ((v2 % data[i])) % 6u; k20++) {
                        v2 -= (v2 << (k20 ^ k19));
                        v1 = ((i << k19) << (zero + 7u));
                        v2 *= select(max(i, k19), (data[i] & data[i]), ((v2 % g) == (k19 / data[i])) || ((zero + 20u) < v2));
                    }
                }
                v1 += g;
            }
        }
        for (var t21 = 0u; t21 < (w.x + 3u) % 4u; t21++) {
            tile[i] = mix((v1 + v2), (t21 & g));
            workgroupBarrier();
            let x22 = tile[((v2 | v2)) % 8u];
            workgroupBarrier();
            if ((n + 0u) % 4u > 1u) {
                local[(i / x22)] = (local[v1] & select(x22, g, x22 < x22));
                for (var k23 = 0u; k23 < (v1) % 6u; k23++) {
                    v1 = mix((v1 - t21), local[(zero + 12u)]);
                    if (v2 <= v2) { break; }
                    v1 = mix((v2 + v1), (x22 / g));
                }
            } else {
            }
            tile[i] = ((i % data[i]) % (data[i] << t21));
            workgroupBarrier();
            let x24 = tile[((i << x22)) % 8u];
            workgroupBarrier();
            if (t21 == (t21 + 0u) % 4u) { break; }
            for (var t25 = 0u; t25 < (w.x + 1u) % 4u; t25++) {
                local[(data[i] / i)] = ((data[i] % (zero + 5u)) % (t25 >> t25));
                var v26 = local[(data[i] & t21)];
                if (t25 == (t21 + 2u) % 4u) { break; }
                v2 = v1;
            }
        }
    } else {
    }
    v2 *= (g | mix(v2, i));
    switch (w.x + 2u) % 4u {
        case 0u, 2u: {
        v2 += mix(local[(zero + 3u)], (g & v1));
        }
        default: {
        if ((n + 3u) % 4u > 0u) {
            tile[i] = ((g & v2) ^ (data[i] & g));
            workgroupBarrier();
            let x27 = tile[((v2 - v2)) % 8u];
            workgroupBarrier();
        } else {
            v1 -= ((v2 & i) + local[v1]);
            var v28 = select(i, select((zero + 0u), v2, v1 != data[i]), ((g << i) < (g % v2)) && (g <= i));
        }
        if ((g - g) >= mix(data[i], v1)) {
            switch (((v1 ^ data[i]) / ((zero + 3u) | v1)) % 4u) {
                case 1u: {
                for (var k29 = 0u; k29 < ((data[i] * i)) % 6u; k29++) {
                    v2 -= select(mix(k29, g), (k29 + k29), k29 < (g ^ v2));
                    if ((zero + 4u) > (zero + 8u)) { break; }
                    v2 = local[(v1 / v2)];
                }
                }
                case 2u, default: {
                for (var k30 = 0u; k30 < (v1) % 6u; k30++) {
                    v1 += mix(v2, (data[i] & v2));
                    v1 -= select(i, v2, (k30 + (zero + 1u)) <= (zero + 17u));
                }
                if (data[i] == local[g]) {
                    if ((g | v1) >= ((zero + 17u) / (zero + 17u))) {
                        v2 = local[(v1 - (zero + 0u))];
                        v1 *= ((v2 ^ v1) | v1);
                        v2 = ((v1 | g) % (v2 >> i));
                    } else {
                        v2 *= (v2 * (i & i));
                        v2 -= (zero + 17u);
                    }
                    if ((v1 >> v2) >= (g << data[i])) {
                        v1 += v2;
                        v1 += local[(data[i] ^ v1)];
                        v2 += ((g % v1) * g);
                    } else {
                        v2 += i;
                        v2 = v1;
                    }
                } else {
                    v2 = walk(&v1, (v1 ^ v2));
                    state = state * 5u + (v1 & v2);
                }
                }
            }
        } else {
            v2 = g;
        }
        }
    }
    tile[i] = max(((zero + 5u) % i), local[v1]);
    workgroupBarrier();
    let x31 = tile[(local[v1]) % 8u];
    workgroupBarrier();
    out[g] = v1 ^ v2 ^ state ^ local[3] ^ local[i];
}
