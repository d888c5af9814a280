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
    var v1 = (i & max(i, (zero + 6u)));
    var v2 = v1;
    tile[i] = (max(g, v2) << (g - v2));
    workgroupBarrier();
    let x3 = tile[((data[i] % (zero + 5u))) % 8u];
    workgroupBarrier();
    tile[i] = x3;
    workgroupBarrier();
    let x4 = tile[((v2 + v1)) % 8u];
    workgroupBarrier();
    if ((n + 2u) % 4u > 2u) {
        for (var t5 = 0u; t5 < (n + 0u) % 4u; t5++) {
            if ((w.x + 3u) % 4u > 3u) {
                var v6 = (t5 - (g | x3));
                state = state * 5u + x3;
            } else {
                v2 *= ((v1 * i) >> mix(x4, t5));
                v2 *= min(mix(g, t5), (i << g));
            }
            switch (t5 + 0u) % 4u {
                case 0u, 2u: {
                v1 *= data[i];
                }
                default: {
                if (((zero + 6u) ^ g) == v2) {
                    if (((g + v1) < (v1 / v1)) || (data[i] > v1)) {
                        v1 ^= g;
                        v1 ^= v2;
                    }
                } else {
                    v2 *= (zero + 16u);
                }
                v2 ^= g;
                }
            }
            if (((x4 | data[i]) >= (v1 / (zero + 11u))) || (t5 <= g)) {
                v2 = (mix(v1, (zero + 18u)) & (t5 | t5));
            } else {
                v2 = select((g | data[i]), (x3 | x3), (v2 % x4) >= (t5 * v1));
                v2 -= data[i];
            }
            if (t5 == (t5 + 0u) % 4u) { continue; }
            atomicAdd(&counts[v2 % 4u], ((zero + 0u) << data[i]));
            workgroupBarrier();
            let x7 = atomicLoad(&counts[(v1 * data[i]) % 4u]);
            workgroupBarrier();
        }
    } else {
        for (var k8 = 0u; k8 < (g) % 6u; k8++) {
            for (var k9 = 0u; k9 < (i) % 6u; k9++) {
                v1 ^= ((g - data[i]) / (v1 - x3));
                var v10 = (select(g, x4, v1 < x4) + (x3 >> k9));
                switch (select((g / g), (x3 >> g), (((zero + 7u) + data[i]) > mix(v1, g)) && (k8 >= data[i])) % 4u) {
                    case 1u: {
                    switch ((v1 % (data[i] << i)) % 4u) {
                        case 1u: {
                        v1 += ((k8 * x4) | (v10 << v2));
                        }
                        case 2u, default: {
                        v1 ^= (max(v1, i) & v10);
                        v10 += (v1 + v10);
                        }
                    }
                    }
                    case 2u, default: {
                    for (var k11 = 0u; k11 < ((x4 - x4)) % 6u; k11++) {
                        v10 -= local[k9];
                        v2 = select((x3 + v10), local[v10], ((zero + 18u) << data[i]) == i);
                        if (g > k11) { break; }
                        v2 ^= k8;
                    }
                    v1 *= data[i];
                    }
                }
            }
            if (((i << v2) <= (v1 >> i)) && (k8 < (zero + 17u))) {
                v2 ^= ((x4 + x4) ^ (i ^ x3));
                v2 -= ((x3 << k8) % select(g, g, x3 > x4));
            } else {
                v2 += ((x3 + x4) >> (i >> x4));
                if ((g % x3) < x3) {
                    v1 = walk(&v1, (v1 / data[i]));
                    local[g] = data[i];
                    var v12 = (zero + 14u);
                }
            }
            if (select(v2, v1, g <= (zero + 10u)) <= local[v1]) {
                if (((zero + 20u) << v2) <= (v1 & x3)) {
                    v2 ^= (v1 % (k8 % g));
                    v1 = walk(&v1, (v2 + (zero + 1u)));
                } else {
                    if ((g & (zero + 14u)) >= local[data[i]]) {
                        v1 *= v2;
                        v1 -= ((i / x4) * (k8 << i));
                        v1 ^= i;
                    } else {
                        v2 -= ((x4 + k8) + ((zero + 2u) | x3));
                    }
                    if (((zero + 0u) / (zero + 1u)) == (k8 - k8)) {
                        v1 += (((zero + 16u) + k8) | x3);
                        v1 -= k8;
                        v1 += select(x3, (x3 >> (zero + 4u)), ((data[i] & v1) >= (g * v1)) && (x4 >= x4));
                    } else {
                        v2 ^= ((v2 - v1) | (x4 ^ v1));
                    }
                }
            }
        }
        tile[i] = (select(v2, x3, x3 == x3) * (v1 - (zero + 0u)));
        workgroupBarrier();
        let x13 = tile[(data[i]) % 8u];
        workgroupBarrier();
    }
    for (var t14 = 0u; t14 < (n + 1u) % 4u; t14++) {
        for (var t15 = 0u; t15 < (w.x + 2u) % 4u; t15++) {
            if ((v1 < min(i, v1)) && (t15 >= x3)) {
                v2 += (x4 << (v1 << t14));
            } else {
                var v16 = max((data[i] - i), (g + x3));
            }
        }
        switch (t14 + 1u) % 4u {
            case 0u, 2u: {
            if ((t14 + 1u) % 4u > 2u) {
                for (var k17 = 0u; k17 < ((v1 * (zero + 8u))) % 6u; k17++) {
                    for (var k18 = 0u; k18 < (local[v1]) % 6u; k18++) {
                        v2 -= v1;
                        if (x4 != v2) { continue; }
                        v2 = ((k18 ^ t14) - (k18 % v1));
                    }
                    if ((t14 ^ v2) != (t14 ^ (zero + 14u))) {
                        v1 *= ((v2 % v2) / t14);
                        v2 -= ((i - t14) & (x4 & (zero + 17u)));
                        v1 -= (i % (g << v2));
                    }
                    if ((data[i] / (zero + 10u)) != (t14 * v1)) {
                        v1 += t14;
                        v1 = select(k17, (data[i] - data[i]), ((data[i] << x3) == max(i, t14)) || (x4 >= x4));
                    }
                }
                for (var k19 = 0u; k19 < (local[g]) % 6u; k19++) {
                    v1 -= ((x4 | v2) - (g ^ g));
                }
            } else {
                if ((v2 % i) >= (data[i] >> v1)) {
                    var v20 = t14;
                    if (((data[i] ^ g) != ((zero + 7u) ^ v20)) && (g <= i)) {
                        v20 *= ((data[i] % x4) % (x4 - v2));
                        v1 -= v20;
                    }
                } else {
                    if (((data[i] | data[i]) == ((zero + 15u) % t14)) && (g >= t14)) {
                        v2 += min((x4 << t14), ((zero + 6u) & v1));
                    }
                    state = state * 5u + x3;
                }
                for (var k21 = 0u; k21 < ((i - t14)) % 6u; k21++) {
                    if (((g ^ t14) < local[x3]) && (g > v1)) {
                        v1 *= (g | x4);
                        v2 -= v1;
                    }
                    for (var k22 = 0u; k22 < ((x4 - (zero + 19u))) % 6u; k22++) {
                        v2 = (min(v1, v2) ^ (v2 >> v2));
                        v1 ^= (zero + 17u);
                    }
                }
            }
            }
            default: {
            v1 *= ((v1 + i) - (data[i] << i));
            tile[i] = local[(i | v1)];
            workgroupBarrier();
            let x23 = tile[(i) % 8u];
            workgroupBarrier();
            }
        }
    }
    for (var t24 = 0u; t24 < (n + 2u) % 4u; t24++) {
        for (var t25 = 0u; t25 < (n + 0u) % 4u; t25++) {
            tile[i] = ((g * x4) % (x4 * x3));
            workgroupBarrier();
            let x26 = tile[(max(x3, i)) % 8u];
            workgroupBarrier();
        }
        tile[i] = (x3 * mix(x3, x4));
        workgroupBarrier();
        let x27 = tile[((x4 / data[i])) % 8u];
        workgroupBarrier();
    }
    out[g] = v1 ^ v2 ^ state ^ local[3] ^ local[i];
}
