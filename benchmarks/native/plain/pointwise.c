/* Element by element, and long chains of operations, in plain loops as one first writes them. */
#include "../kernels.h"

void saxpy(const SaxpyParams *params, const float *x, float *y, int64_t x_count, int64_t y_count) {
    (void)x_count, (void)y_count;
    const float a = params->a;
    const int64_t n = params->n;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

void vec4_math(const float *x, const float *exponent, float *exp_x, float *sin_x, float *sqrt_x, float *pow_x,
               int64_t count) {
    const float power = *exponent;
#pragma omp parallel for
    for (int64_t i = 0; i < 4 * count; i++) {
        exp_x[i] = expf(x[i]);
        sin_x[i] = sinf(x[i]);
        sqrt_x[i] = sqrtf(fabsf(x[i]));
        pow_x[i] = powf(fabsf(x[i]) + 0.5f, power);
    }
}

void mandelbrot(const View *view, uint32_t *escapes, uint32_t *picture) {
    const int64_t width = view->size[0], height = view->size[1];
    const uint32_t limit = view->limit;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t row = 0; row < height; row++) {
        for (int64_t column = 0; column < width; column++) {
            const float cx = view->centre[0] + view->pixel * (column + 0.5f - 0.5f * width);
            const float cy = view->centre[1] + view->pixel * (row + 0.5f - 0.5f * height);
            float x = 0, y = 0;
            uint32_t steps = 0;
            while (steps < limit && x * x + y * y <= 4) {
                const float next = x * x - y * y + cx;
                y = 2 * x * y + cy;
                x = next;
                steps++;
            }
            escapes[row * width + column] = steps;
            picture[row * width + column] = escape_colour(steps, limit);
        }
    }
}

void pcg_hash(const HashParams *params, uint32_t *hashes, float *unit_floats, int64_t count, int64_t float_count) {
    (void)float_count;
    const uint32_t seed = params->seed, rounds = params->rounds;
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        uint32_t hash = (uint32_t)i + seed;
        for (uint32_t round = 0; round < rounds; round++) hash = pcg(hash);
        hashes[i] = hash;
        unit_floats[i] = unit_float(hash);
    }
}

void collatz(const uint32_t *starts, int32_t *lengths, int64_t count, int64_t length_count) {
    const uint32_t largest = (0xffffffffu - 1) / 3;
    (void)length_count;
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t i = 0; i < count; i++) {
        uint32_t n = starts[i];
        int32_t steps = 0;
        while (n > 1) {
            if (n % 2 == 0) {
                const int halvings = __builtin_ctz(n);
                n >>= halvings;
                steps += halvings;
            } else if (n > largest) {
                steps = -1;
                break;
            } else {
                n = 3 * n + 1;
                steps++;
            }
        }
        lengths[i] = steps;
    }
}

void grayscale(const uint32_t *pixels, uint32_t *grey_pixels, Range *range, int64_t count, int64_t grey_count) {
    (void)grey_count;
    uint32_t darkest = range->darkest, brightest = range->brightest;
#pragma omp parallel for reduction(min : darkest) reduction(max : brightest)
    for (int64_t i = 0; i < count; i++) {
        const uint32_t pixel = pixels[i];
        const uint32_t grey = ((pixel & 0xff) * 77 + (pixel >> 8 & 0xff) * 150 + (pixel >> 16 & 0xff) * 29) >> 8;
        grey_pixels[i] = grey * 0x010101u | (pixel & 0xff000000u);
        darkest = grey < darkest ? grey : darkest;
        brightest = grey > brightest ? grey : brightest;
    }
    range->darkest = darkest;
    range->brightest = brightest;
}

void half_axpy(const _Float16 *a, const _Float16 *x, _Float16 *y, int64_t count, int64_t y_count) {
    (void)y_count;
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        y[2 * i] += a[0] * x[2 * i];
        y[2 * i + 1] += a[1] * x[2 * i + 1];
    }
}

void morton(const float *positions, uint32_t *codes, int64_t position_count, int64_t count) {
    (void)position_count;
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        uint32_t code = 0;
        for (int axis = 0; axis < 3; axis++) {
            uint32_t v = (uint32_t)clampf(positions[3 * i + axis] * 1024, 0, 1023);
            v = v * 0x00010001u & 0xff0000ffu;
            v = v * 0x00000101u & 0x0f00f00fu;
            v = v * 0x00000011u & 0xc30c30c3u;
            v = v * 0x00000005u & 0x49249249u;
            code |= v << (2 - axis);
        }
        codes[i] = code;
    }
}
