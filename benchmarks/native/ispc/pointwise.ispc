/* Element by element, and long chains of dependent operations; see parts.isph. */
#include "parts.isph"

struct SaxpyParams { float a; uint32 n; };
struct View { float centre[2]; float pixel; uint32 limit; uint32 size[2]; };
struct HashParams { uint32 seed, rounds; };

task void saxpy_part(uniform float a, const uniform float x[], uniform float y[], uniform int n) {
    foreach (i = BEGIN(PART) ... END(n, PART)) y[i] = a * x[i] + y[i];
}

export void saxpy(const uniform SaxpyParams *uniform params, const uniform float x[], uniform float y[]) {
    launch[PARTS(params->n, PART)] saxpy_part(params->a, x, y, params->n);
}

task void vec4_math_part(const uniform float x[], uniform float exponent, uniform float exp_x[], uniform float sin_x[],
                         uniform float sqrt_x[], uniform float pow_x[], uniform int n) {
    foreach (i = BEGIN(PART / 4) ... END(n, PART / 4)) {
        float v = x[i];
        exp_x[i] = exp(v);
        sin_x[i] = sin(v);
        sqrt_x[i] = sqrt(abs(v));
        pow_x[i] = pow(abs(v) + 0.5f, exponent);
    }
}

export void vec4_math(const uniform float x[], const uniform float *uniform exponent, uniform float exp_x[],
                      uniform float sin_x[], uniform float sqrt_x[], uniform float pow_x[], uniform int64 count) {
    uniform int n = 4 * count;
    launch[PARTS(n, PART / 4)] vec4_math_part(x, *exponent, exp_x, sin_x, sqrt_x, pow_x, n);
}

task void mandelbrot_row(const uniform View *uniform view, uniform uint32 escapes[], uniform uint32 picture[]) {
    uniform int row = taskIndex, width = view->size[0];
    uniform uint32 limit = view->limit;
    uniform float cy = view->centre[1] + view->pixel * (row + 0.5f - 0.5f * view->size[1]);
    foreach (column = 0 ... width) {
        float cx = view->centre[0] + view->pixel * (column + 0.5f - 0.5f * width);
        float x = 0, y = 0;
        uint32 steps = 0;
        while (steps < limit && x * x + y * y <= 4.0f) {
            float next = x * x - y * y + cx;
            y = 2 * x * y + cy;
            x = next;
            steps++;
        }
        uint32 red = min((uint32)255, 8 * steps), green = (5 * steps) & 255, blue = 255 - min((uint32)255, 4 * steps);
        escapes[row * width + column] = steps;
        picture[row * width + column] = steps == limit ? 0xff000000 : 0xff000000 | (blue << 16) | (green << 8) | red;
    }
}

export void mandelbrot(const uniform View *uniform view, uniform uint32 escapes[], uniform uint32 picture[]) {
    launch[view->size[1]] mandelbrot_row(view, escapes, picture);
}

task void pcg_hash_part(const uniform HashParams *uniform params, uniform uint32 hashes[], uniform float unit_floats[],
                        uniform int count) {
    uniform int rounds = params->rounds;
    foreach (i = BEGIN(PART / 4) ... END(count, PART / 4)) {
        uint32 hash = i + params->seed;
        for (uniform int round = 0; round < rounds; round++) {
            uint32 state = hash * 747796405 + 2891336453;
            uint32 word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737;
            hash = (word >> 22) ^ word;
        }
        hashes[i] = hash;
        unit_floats[i] = floatbits(0x3f800000 | (hash >> 9)) - 1.0f;
    }
}

export void pcg_hash(const uniform HashParams *uniform params, uniform uint32 hashes[], uniform float unit_floats[],
                     uniform int64 count) {
    launch[PARTS(count, PART / 4)] pcg_hash_part(params, hashes, unit_floats, count);
}

static inline uint32 expand_bits(uint32 v) {
    v = (v * 0x00010001) & 0xff0000ff;
    v = (v * 0x00000101) & 0x0f00f00f;
    v = (v * 0x00000011) & 0xc30c30c3;
    return (v * 0x00000005) & 0x49249249;
}

task void morton_part(const uniform float positions[], uniform uint32 codes[], uniform int count) {
    foreach (i = BEGIN(PART) ... END(count, PART)) {
        uint32 x = clamp(positions[3 * i] * 1024, 0.0f, 1023.0f);
        uint32 y = clamp(positions[3 * i + 1] * 1024, 0.0f, 1023.0f);
        uint32 z = clamp(positions[3 * i + 2] * 1024, 0.0f, 1023.0f);
        codes[i] = (expand_bits(x) << 2) | (expand_bits(y) << 1) | expand_bits(z);
    }
}

export void morton(const uniform float positions[], uniform uint32 codes[], uniform int64 position_count,
                   uniform int64 count) {
    launch[PARTS(count, PART)] morton_part(positions, codes, count);
}
