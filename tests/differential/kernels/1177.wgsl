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
@compute @workgroup_size(2, 2, 2)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
    let g = w.x * 8u + i;
    let zero = n & 0u; // keeps literals from being const-expressions, which may be errors
    _ = &totals; _ = &data;
    var local = array<u32, 10>();
    var v1 = (((zero + 7u) + g) >> i);
    var v2 = (select(v1, (zero + 9u), g >= i) - min(i, data[i]));
    if ((w.x + 0u) % 4u > 0u) {
        atomicAdd(&counts[((zero + 18u) << (zero + 17u)) % 4u], v2);
        workgroupBarrier();
        let x3 = atomicLoad(&counts[local[data[i]] % 4u]);
        workgroupBarrier();
    } else {
        v1 = ((v2 % g) * data[i]);
    }
    for (var k4 = 0u; k4 < (min(v1, g)) % 6u; k4++) {
        if ((k4 / k4) != local[i]) {
            var v5 = select(local[v1], (k4 ^ g), g == (v1 % g));
            if (k4 > max(i, v5)) {
                v2 -= g;
                v2 = walk(&v5, v5);
            } else {
                local[(k4 | k4)] = select((k4 ^ v5), local[v5], ((data[i] ^ i) <= ((zero + 15u) - k4)) && (k4 < i));
                switch (g % 4u) {
                    case 1u: {
                    v1 -= v1;
                    }
                    case 2u, default: {
                    v5 += ((g << v1) ^ v1);
                    for (var k6 = 0u; k6 < ((data[i] | k4)) % 6u; k6++) {
                        v5 *= ((v1 / k4) % g);
                        v1 *= (i >> select(v1, i, v1 == v5));
                        if (v1 != v1) { break; }
                        v2 += (g + (i << i));
                    }
                    }
                }
            }
            if ((g != local[k4]) || (g != (zero + 8u))) {
                v1 += v2;
            }
        }
        local[select(k4, v2, v1 <= k4)] = (max(v2, (zero + 15u)) >> data[i]);
        if (g == data[i]) { break; }
        atomicXor(&totals[(i + g) % 4u], data[i]);
    }
    switch (n + 1u) % 4u {
        case 0u, 2u: {
        tile[i] = select((data[i] % v1), (g & v1), (v2 % g) > (v2 | i));
        workgroupBarrier();
        let x7 = tile[((g & i)) % 8u];
        workgroupBarrier();
        }
        default: {
        for (var t8 = 0u; t8 < (w.x + 2u) % 4u; t8++) {
            if ((t8 + 3u) % 4u > 1u) {
                if (((data[i] & t8) != ((zero + 3u) + data[i])) || (data[i] < t8)) {
                    if (max((zero + 12u), data[i]) > ((zero + 18u) / i)) {
                        v1 *= ((data[i] + v1) << (g % g));
                        v2 = local[i];
                    }
                    atomicXor(&totals[(t8 >> (zero + 19u)) % 4u], g);
                } else {
                    var v9 = (v2 & ((zero + 8u) ^ g));
                }
            } else {
                for (var k10 = 0u; k10 < ((v1 % i)) % 6u; k10++) {
                    for (var k11 = 0u; k11 < (i) % 6u; k11++) {
                        v2 *= ((g % g) >> v1);
                        v1 ^= (k10 / (v2 | i));
                        v1 *= k11;
                        if (v1 >= k10) { continue; }
                        v2 *= ((zero + 4u) + v2);
                    }
                    local[min(v1, v2)] = t8;
                    if (t8 >= k10) { continue; }
                    v1 *= ((g | v1) ^ select(i, t8, data[i] >= g));
                }
                v2 = min(v2, (g | data[i]));
            }
            for (var t12 = 0u; t12 < (w.x + 3u) % 4u; t12++) {
                if (((v2 % i) <= v2) || (t8 >= (zero + 1u))) {
                    for (var k13 = 0u; k13 < ((v1 << t12)) % 6u; k13++) {
                        v2 ^= data[i];
                        v2 -= (v2 << g);
                    }
                    v1 *= i;
                }
                if (t12 == (t8 + 1u) % 4u) { continue; }
                if ((g + t12) < (data[i] | t8)) {
                    local[(v2 ^ t8)] = (t12 | local[v1]);
                    for (var k14 = 0u; k14 < (data[i]) % 6u; k14++) {
                        v2 -= local[mix(t8, v2)];
                    }
                }
            }
            atomicAdd(&counts[(zero + 13u) % 4u], (i / v2));
            workgroupBarrier();
            let x15 = atomicLoad(&counts[(v2 << v1) % 4u]);
            workgroupBarrier();
        }
        switch (w.x + 3u) % 4u {
            case 0u, 2u: {
            tile[i] = (((zero + 18u) | data[i]) ^ (g / v1));
            workgroupBarrier();
            let x16 = tile[(mix(v1, i)) % 8u];
            workgroupBarrier();
            }
            default: {
            if ((n + 1u) % 4u > 2u) {
                v1 -= min(mix(v2, (zero + 4u)), (g % v1));
            } else {
            }
            tile[i] = (((zero + 3u) % v2) + ((zero + 10u) ^ i));
            workgroupBarrier();
            let x17 = tile[((g & data[i])) % 8u];
            workgroupBarrier();
            }
        }
        }
    }
    tile[i] = v2;
    workgroupBarrier();
    let x18 = tile[((v2 & v2)) % 8u];
    workgroupBarrier();
    out[g] = v1 ^ v2 ^ state ^ local[3] ^ local[i];
}
