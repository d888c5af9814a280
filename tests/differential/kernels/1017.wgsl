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
    var v1 = local[(data[i] % i)];
    var v2 = ((g >> g) | v1);
    for (var k3 = 0u; k3 < (((zero + 17u) - v2)) % 6u; k3++) {
        v2 *= (g * (g + i));
        for (var k4 = 0u; k4 < ((g | i)) % 6u; k4++) {
            if (k3 == (v2 & v1)) {
                switch (((i + (zero + 3u)) % g) % 4u) {
                    case 1u: {
                    v2 += (data[i] << (i + v1));
                    }
                    case 2u, default: {
                    var v5 = (k3 | (g ^ v2));
                    v2 = walk(&v1, (g >> v5));
                    }
                }
                state = state * 5u + data[i];
                for (var k6 = 0u; k6 < (v1) % 6u; k6++) {
                    v2 += v1;
                    if (select((zero + 10u), v1, v1 < g) != (k4 >> v2)) {
                        v1 = k6;
                    } else {
                        v1 += ((data[i] - (zero + 7u)) ^ (v1 - g));
                    }
                    if (v1 == v2) { break; }
                    switch (mix((g * i), ((zero + 8u) ^ (zero + 15u))) % 4u) {
                        case 1u: {
                        v2 = ((data[i] | g) ^ max(k3, i));
                        }
                        case 2u, default: {
                        v1 -= (g | (i | k3));
                        v2 = ((k6 * v2) % mix(v1, k6));
                        }
                    }
                }
            } else {
                if ((g & k3) > max((zero + 15u), g)) {
                    for (var k7 = 0u; k7 < (max(i, v1)) % 6u; k7++) {
                        v2 *= v2;
                    }
                    if ((v2 % k4) <= (g << (zero + 11u))) {
                        v2 += (zero + 19u);
                        v2 *= mix(local[data[i]], (i >> k3));
                        v1 = (g << local[k4]);
                    } else {
                        v2 += v1;
                    }
                    local[(zero + 15u)] = (zero + 8u);
                } else {
                    v2 += data[i];
                    v2 *= g;
                }
            }
            switch ((((zero + 4u) / v1) << select(k4, k4, k3 >= k3)) % 4u) {
                case 1u: {
                if (((k4 + k3) == (v1 & v1)) || (k4 > (zero + 10u))) {
                    for (var k8 = 0u; k8 < ((data[i] << k3)) % 6u; k8++) {
                        v2 += v2;
                        v1 *= ((k3 + v1) & (k8 >> (zero + 1u)));
                        v1 += ((k4 + g) << (v1 / v2));
                    }
                    v2 -= ((g | k3) * mix((zero + 4u), k3));
                    var v9 = ((data[i] >> k4) % k3);
                } else {
                    v2 += ((g - v1) % v2);
                    switch (i % 4u) {
                        case 1u: {
                        v2 = (local[v2] << mix(k3, i));
                        }
                        case 2u, default: {
                        v1 ^= (local[v1] & (v2 & i));
                        v2 *= min(max((zero + 14u), data[i]), (data[i] & data[i]));
                        }
                    }
                }
                }
                case 2u, default: {
                if (((zero + 1u) * k4) == mix(v1, i)) {
                    local[(v2 % v2)] = data[i];
                    v1 ^= i;
                    for (var k10 = 0u; k10 < ((k3 + v1)) % 6u; k10++) {
                        v2 -= ((k4 % data[i]) + data[i]);
                        if (i > (zero + 19u)) { break; }
                        v2 += local[(g << k10)];
                    }
                } else {
                    if ((data[i] + (zero + 8u)) >= g) {
                        v1 = (zero + 16u);
                    } else {
                        v2 = (mix(data[i], k4) & (v2 | k3));
                    }
                }
                v2 ^= max(v1, v1);
                }
            }
            for (var k11 = 0u; k11 < (v1) % 6u; k11++) {
                v2 ^= v2;
                v2 += (k4 | (v2 - k3));
            }
        }
    }
    tile[i] = ((v1 % data[i]) << (v1 * data[i]));
    workgroupBarrier();
    let x12 = tile[((g | v2)) % 8u];
    workgroupBarrier();
    switch (w.x + 2u) % 4u {
        case 0u, 2u: {
        switch (w.x + 3u) % 4u {
            case 0u, 2u: {
            if ((w.x + 0u) % 4u > 2u) {
                v1 = walk(&v2, ((zero + 10u) & i));
                var v13 = (i % (g % (zero + 5u)));
            } else {
                v1 += x12;
                state = state * 5u + mix(v1, v1);
            }
            }
            default: {
            if ((n + 1u) % 4u > 2u) {
                switch (((x12 % g) * ((zero + 10u) - data[i])) % 4u) {
                    case 1u: {
                    for (var k14 = 0u; k14 < ((i << x12)) % 6u; k14++) {
                        v1 += i;
                        if (i <= v1) { break; }
                        v2 += select((v1 | (zero + 19u)), (data[i] & g), (i % (zero + 1u)) != (data[i] % v2));
                    }
                    }
                    case 2u, default: {
                    v2 = ((v2 >> i) << min((zero + 16u), g));
                    for (var k15 = 0u; k15 < (v2) % 6u; k15++) {
                        v1 -= ((v1 << g) / (v2 ^ (zero + 7u)));
                        v1 *= (g << g);
                        v2 = select(((zero + 14u) ^ k15), (zero + 15u), (g * x12) != (v2 | i));
                        if (data[i] < k15) { continue; }
                        v2 ^= ((k15 / (zero + 1u)) ^ (x12 + i));
                    }
                    }
                }
            } else {
                v2 = walk(&v2, v2);
            }
            v1 *= ((i >> i) ^ ((zero + 7u) >> i));
            }
        }
        }
        default: {
        for (var t16 = 0u; t16 < (w.x + 2u) % 4u; t16++) {
            atomicAdd(&counts[v1 % 4u], select((zero + 13u), (zero + 1u), v2 < x12));
            workgroupBarrier();
            let x17 = atomicLoad(&counts[v1 % 4u]);
            workgroupBarrier();
        }
        atomicAdd(&counts[select(x12, g, i == i) % 4u], (data[i] & i));
        workgroupBarrier();
        let x18 = atomicLoad(&counts[data[i] % 4u]);
        workgroupBarrier();
        }
    }
    switch (n + 2u) % 4u {
        case 0u, 2u: {
        state = state * 5u + local[v2];
        }
        default: {
        v1 += (zero + 18u);
        tile[i] = data[i];
        workgroupBarrier();
        let x19 = tile[((g >> data[i])) % 8u];
        workgroupBarrier();
        }
    }
    if ((g & data[i]) >= ((zero + 1u) ^ x12)) {
        if (((data[i] << v2) != (data[i] | v1)) && (g <= v2)) {
            var v20 = min((v1 % v2), (v2 * v2));
            v20 -= v20;
        } else {
            if ((i & data[i]) != g) {
                v1 = ((i ^ x12) << v2);
            } else {
                v2 *= ((g | v1) | (v1 << data[i]));
            }
            for (var k21 = 0u; k21 < (v1) % 6u; k21++) {
                v2 -= (i ^ (v2 & x12));
                switch (min((g >> (zero + 19u)), (i << k21)) % 4u) {
                    case 1u: {
                    switch (min((data[i] - x12), (zero + 11u)) % 4u) {
                        case 1u: {
                        v2 *= ((i | k21) << local[k21]);
                        }
                        case 2u, default: {
                        v2 ^= data[i];
                        v2 += ((zero + 11u) % (g | (zero + 20u)));
                        }
                    }
                    }
                    case 2u, default: {
                    for (var k22 = 0u; k22 < ((data[i] + (zero + 8u))) % 6u; k22++) {
                        v2 += ((zero + 6u) * (k22 * i));
                    }
                    v2 ^= mix(max(v1, x12), data[i]);
                    }
                }
                v1 ^= max(select(i, data[i], v1 <= x12), (data[i] << v2));
            }
        }
        for (var k23 = 0u; k23 < ((v2 | v2)) % 6u; k23++) {
            v2 *= ((data[i] >> (zero + 14u)) ^ v1);
        }
    }
    out[g] = v1 ^ v2 ^ state ^ local[3] ^ local[i];
}
