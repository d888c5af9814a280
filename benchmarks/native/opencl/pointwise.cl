/* Element by element, and long chains of operations, with the workgroups, barriers and indices of the WGSL. */

typedef struct { float a; uint n; } SaxpyParams;
typedef struct { float2 centre; float pixel; uint limit; uint2 size; } View;
typedef struct { uint seed, rounds; } HashParams;
typedef struct { volatile uint darkest, brightest; } Range;

kernel void saxpy(global const SaxpyParams *params, global const float *x, global float *y, uint x_count, uint count) {
    uint i = get_global_id(0);
    if (i < params->n) y[i] = params->a * x[i] + y[i];
}

kernel void vec4_math(global const float4 *x, global const float *exponent, global float4 *exp_x, global float4 *sin_x,
                      global float4 *sqrt_x, global float4 *pow_x, uint count, uint c1, uint c2, uint c3, uint c4) {
    uint i = get_global_id(0);
    if (i >= count) return;
    float4 v = x[i];
    exp_x[i] = exp(v);
    sin_x[i] = sin(v);
    sqrt_x[i] = sqrt(fabs(v));
    pow_x[i] = pow(fabs(v) + 0.5f, (float4)(*exponent));
}

kernel void mandelbrot(global const View *view, global uint *escapes, global uint *picture, uint c0, uint c1) {
    uint2 id = (uint2)(get_global_id(0), get_global_id(1)), size = view->size;
    if (id.x >= size.x || id.y >= size.y) return;
    float2 c = view->centre + view->pixel * (convert_float2(id) + 0.5f - 0.5f * convert_float2(size));
    float2 z = 0;
    uint steps = 0, limit = view->limit;
    while (steps < limit && z.x * z.x + z.y * z.y <= 4.0f) {
        z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
        steps++;
    }
    uint i = id.y * size.x + id.x;
    uint red = min(255u, 8 * steps), green = 5 * steps % 256, blue = 255 - min(255u, 4 * steps);
    escapes[i] = steps;
    picture[i] = steps == limit ? 0xff000000u : 0xff000000u | blue << 16 | green << 8 | red;
}

kernel void pcg_hash(global const HashParams *params, global uint *hashes, global float *unit_floats, uint count,
                     uint c1) {
    uint i = get_global_id(0);
    if (i >= count) return;
    uint hash = i + params->seed, rounds = params->rounds;
    for (uint round = 0; round < rounds; round++) {
        uint state = hash * 747796405u + 2891336453u;
        uint word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
        hash = (word >> 22) ^ word;
    }
    hashes[i] = hash;
    unit_floats[i] = as_float(0x3f800000u | hash >> 9) - 1.0f;
}

kernel void collatz(global const uint *starts, global int *lengths, uint count, uint c1) {
    uint i = get_global_id(0);
    if (i >= count) return;
    uint n = starts[i];
    int steps = 0;
    while (n > 1) {
        if ((n & 1) == 0) {
            uint halvings = 31 - clz(n & -n);
            n >>= halvings;
            steps += halvings;
            continue;
        }
        if (n > (0xffffffffu - 1) / 3) {
            steps = -1;
            break;
        }
        n = 3 * n + 1;
        steps++;
    }
    lengths[i] = steps;
}

kernel void grayscale(global const uint *pixels, global uint *grey_pixels, global Range *range, uint count, uint c1) {
    uint i = get_global_id(0);
    if (i >= count) return;
    uint pixel = pixels[i];
    uint grey = ((pixel & 0xff) * 77 + (pixel >> 8 & 0xff) * 150 + (pixel >> 16 & 0xff) * 29) >> 8;
    grey_pixels[i] = grey * 0x010101u | (pixel & 0xff000000u);
    atomic_min(&range->darkest, grey);
    atomic_max(&range->brightest, grey);
}

uint expand_bits(uint v) {
    v = v * 0x00010001u & 0xff0000ffu;
    v = v * 0x00000101u & 0x0f00f00fu;
    v = v * 0x00000011u & 0xc30c30c3u;
    return v * 0x00000005u & 0x49249249u;
}

kernel void morton(global const float *positions, global uint *codes, uint c0, uint count) {
    uint i = get_global_id(0);
    if (i >= count) return;
    float3 point = (float3)(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]);
    uint3 cell = convert_uint3(clamp(point * 1024.0f, 0.0f, 1023.0f));
    codes[i] = expand_bits(cell.x) << 2 | expand_bits(cell.y) << 1 | expand_bits(cell.z);
}
