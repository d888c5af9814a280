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
    var v1 = (g & ((zero + 8u) & g));
    var v2 = ((i | (zero + 20u)) % (g / (zero + 11u)));
    if ((n + 3u) % 4u > 3u) {
        for (var k3 = 0u; k3 < ((v2 * (zero + 17u))) % 6u; k3++) {
            v1 += local[(i | v1)];
            v1 ^= i;
        }
    } else {
        atomicAdd(&counts[(g ^ i) % 4u], select(i, v1, g != v2));
        workgroupBarrier();
        let x4 = atomicLoad(&counts[(i >> v2) % 4u]);
        workgroupBarrier();
        v2 -= v2;
    }
    atomicAdd(&counts[(v2 ^ (zero + 15u)) % 4u], (data[i] >> data[i]));
    workgroupBarrier();
    let x5 = atomicLoad(&counts[v2 % 4u]);
    workgroupBarrier();
    if ((w.x + 3u) % 4u > 2u) {
        if ((n + 1u) % 4u > 1u) {
            if (data[i] > (data[i] >> v2)) {
                v2 = walk(&v1, (v2 * v2));
            }
        } else {
            atomicAdd(&counts[(i & g) % 4u], mix(v1, data[i]));
            workgroupBarrier();
            let x6 = atomicLoad(&counts[v1 % 4u]);
            workgroupBarrier();
            tile[i] = ((x6 >> v1) - (x5 / x6));
            workgroupBarrier();
            let x7 = tile[(v2) % 8u];
            workgroupBarrier();
        }
        if (select(g, x5, i < x5) == v1) {
            local[x5] = (v1 * v1);
            for (var k8 = 0u; k8 < (i) % 6u; k8++) {
                v2 *= (v2 ^ local[v1]);
                for (var k9 = 0u; k9 < (i) % 6u; k9++) {
                    v1 *= v1;
                }
                var v10 = v2;
                if (k8 == data[i]) { break; }
                var v11 = max(((zero + 17u) * k8), ((zero + 17u) >> x5));
            }
        } else {
            switch (data[i] % 4u) {
                case 1u: {
                v2 = walk(&v2, max(v1, v1));
                }
                case 2u, default: {
                v1 += (v2 + (zero + 18u));
                if ((i << v2) < (zero + 17u)) {
                    v2 += min(data[i], (i % data[i]));
                    atomicXor(&totals[(x5 % i) % 4u], x5);
                }
                }
            }
        }
    } else {
    }
    if ((w.x + 3u) % 4u > 3u) {
        for (var t12 = 0u; t12 < (n + 0u) % 4u; t12++) {
            v1 = ((data[i] + t12) * ((zero + 6u) | g));
        }
    } else {
        for (var t13 = 0u; t13 < (w.x + 0u) % 4u; t13++) {
            v1 ^= (zero + 10u);
            for (var k14 = 0u; k14 < ((x5 & (zero + 12u))) % 6u; k14++) {
                atomicXor(&totals[(g ^ i) % 4u], local[v2]);
                atomicXor(&totals[(data[i] - v2) % 4u], v1);
                if ((zero + 8u) > k14) { break; }
                state = state * 5u + data[i];
            }
            v2 += ((v1 * t13) ^ g);
            if (t13 == (w.x + 3u) % 4u) { break; }
            for (var t15 = 0u; t15 < (n + 3u) % 4u; t15++) {
                v2 += (t15 / (t15 % v1));
            }
        }
    }
    tile[i] = ((g ^ g) | (i | v1));
    workgroupBarrier();
    let x16 = tile[(x5) % 8u];
    workgroupBarrier();
    tile[i] = i;
    workgroupBarrier();
    let x17 = tile[((g & x16)) % 8u];
    workgroupBarrier();
    out[g] = v1 ^ v2 ^ state ^ local[3] ^ local[i];
}
