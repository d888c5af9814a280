/* Element by element, and long chains of dependent operations; see lanes.h. */
#include "lanes.h"

void saxpy(const SaxpyParams *params, const float *x, float *y) {
    const Floats a = floats(params->a);
    const int64_t n = params->n;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i += W) store_left(y + i, n - i, a * load_left(x + i, n - i) + load_left(y + i, n - i));
}

void vec4_math(const float *x, const float *exponent, float *exp_x, float *sin_x, float *sqrt_x, float *pow_x,
               int64_t count) {
    const Floats power = floats(*exponent), half = floats(0.5f), sign = floats(-0.0f);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < 4 * count; i += W) {
        const int64_t left = 4 * count - i;
        const Floats v = load_left(x + i, left), size = _mm256_andnot_ps(sign, v);
        store_left(exp_x + i, left, _ZGVdN8v_expf(v));
        store_left(sin_x + i, left, _ZGVdN8v_sinf(v));
        store_left(sqrt_x + i, left, _mm256_sqrt_ps(size));
        store_left(pow_x + i, left, _ZGVdN8vv_powf(size + half, power));
    }
}

INLINE __m128i half_sums(Floats factors, __m128i x, __m128i y) {
    const Floats sum = factors * _mm256_cvtph_ps(x) + _mm256_cvtph_ps(y);
    return _mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

void half_axpy(const uint16_t *a, const uint16_t *x, uint16_t *y, int64_t count) {
    const Floats factors = _mm256_cvtph_ps(_mm_set1_epi32(a[0] | a[1] << 16));
    const int64_t whole = 2 * count / W * W, left = 2 * count - whole;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < whole; i += W) {
        const __m128i some_x = _mm_loadu_si128((const __m128i *)(x + i)), some_y = _mm_loadu_si128((__m128i *)(y + i));
        _mm_storeu_si128((__m128i *)(y + i), half_sums(factors, some_x, some_y));
    }
    __m128i last_x = _mm_setzero_si128(), last_y = last_x;
    memcpy(&last_x, x + whole, left * sizeof *x), memcpy(&last_y, y + whole, left * sizeof *y);
    last_y = half_sums(factors, last_x, last_y);
    memcpy(y + whole, &last_y, left * sizeof *y);
}

INLINE Ints least_words(Ints a, Ints b) { return (Ints)_mm256_min_epu32((__m256i)a, (__m256i)b); }
INLINE Ints greatest_words(Ints a, Ints b) { return (Ints)_mm256_max_epu32((__m256i)a, (__m256i)b); }

/* Pairs of 16 bits times a number: products stay below 2^16 as green's are the greatest, 255 * 150. */
INLINE Words times_short(Words v, int by) { return (Words)_mm256_mullo_epi16((__m256i)v, _mm256_set1_epi32(by)); }

void grayscale(const uint32_t *pixels, uint32_t *grey_pixels, Range *range, int64_t count) {
    uint32_t darkest = range->darkest, brightest = range->brightest;
#pragma omp parallel reduction(min : darkest) reduction(max : brightest)
    {
        Ints lowest = ints(-1), highest = ints(0);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < count; i += W) {
            const int64_t left = count - i;
            const Words pixel = (Words)load_ints_left(pixels + i, left);
            const Words red = times_short(pixel & 0xff, 77), green = times_short(pixel >> 8 & 0xff, 150);
            const Words grey = (red + green + times_short(pixel >> 16 & 0xff, 29)) >> 8;
            store_ints_left(grey_pixels + i, left, (Ints)((pixel & 0xff000000u) | grey | grey << 8 | grey << 16));
            const Ints beyond = left >= W ? ints(0) : ~lanes_left(left);
            lowest = least_words(lowest, (Ints)grey | beyond);
            highest = greatest_words(highest, (Ints)grey & ~beyond);
        }
        for (int lane = 0; lane < W; lane++) {
            const uint32_t low = (uint32_t)lowest[lane], high = (uint32_t)highest[lane];
            darkest = low < darkest ? low : darkest;
            brightest = high > brightest ? high : brightest;
        }
    }
    range->darkest = darkest;
    range->brightest = brightest;
}

/* Long chains of dependent operations: several vectors at once hide their latency */

enum { HASHES = 4 };

INLINE Words pcg_lanes(Words input) {
    const Words state = input * words(747796405u) + words(2891336453u);
    const Words mixed = (state >> ((state >> 28) + 4)) ^ state, word = mixed * words(277803737u);
    return word >> 22 ^ word;
}

void pcg_hash(const HashParams *params, uint32_t *hashes, float *unit_floats, int64_t count) {
    const uint32_t seed = params->seed, rounds = params->rounds;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i += HASHES * W) {
        Words hash[HASHES];
#pragma GCC unroll 4
        for (int g = 0; g < HASHES; g++) hash[g] = words((uint32_t)(i + g * W) + seed) + (Words)lane_numbers();
        for (uint32_t round = 0; round < rounds; round++)
#pragma GCC unroll 4
            for (int g = 0; g < HASHES; g++) hash[g] = pcg_lanes(hash[g]);
#pragma GCC unroll 4
        for (int g = 0; g < HASHES; g++) {
            const int64_t at = i + g * W;
            store_ints_left(hashes + at, count - at, (Ints)hash[g]);
            store_left(unit_floats + at, count - at, (Floats)(hash[g] >> 9 | 0x3f800000u) - floats(1));
        }
    }
}

enum { ORBITS = 4 };

/* The escape times of 32 points of a row. */
INLINE void escape_times(const Floats cx[ORBITS], Floats cy, uint32_t limit, Ints steps[ORBITS]) {
    const Floats four = floats(4);
    Floats x[ORBITS], y[ORBITS], alive[ORBITS];
#pragma GCC unroll 4
    for (int g = 0; g < ORBITS; g++) {
        x[g] = y[g] = floats(0);
        steps[g] = ints(0);
        alive[g] = (Floats)ints(-1);
    }
    for (uint32_t step = 0; step < limit; step++) {
#pragma GCC unroll 4
        for (int g = 0; g < ORBITS; g++) {
            const Floats xx = x[g] * x[g], yy = y[g] * y[g];
            alive[g] = only(alive[g], at_most(_mm256_add_ps(xx, yy), four));
            steps[g] -= (Ints)alive[g];
            y[g] = (x[g] + x[g]) * y[g] + cy;
            x[g] = _mm256_sub_ps(xx, yy) + cx[g];
        }
        if (!any(_mm256_or_ps(_mm256_or_ps(alive[0], alive[1]), _mm256_or_ps(alive[2], alive[3])))) break;
    }
}

INLINE Ints colours(Ints steps, uint32_t limit) {
    const Ints most = ints(255), red = least_words(most, steps << 3), green = (steps * 5) & 255;
    const Ints blue = most - least_words(most, steps << 2);
    return ints((int)0xff000000u) | ((blue << 16 | green << 8 | red) & (steps != ints((int)limit)));
}

void mandelbrot(const View *view, uint32_t *escapes, uint32_t *picture) {
    const int64_t width = view->size[0], height = view->size[1];
    const uint32_t limit = view->limit;
    const Floats lane = _mm256_cvtepi32_ps((__m256i)lane_numbers());
#pragma omp parallel for schedule(dynamic, 2)
    for (int64_t row = 0; row < height; row++) {
        const Floats cy = floats(view->centre[1] + view->pixel * (row + 0.5f - 0.5f * height));
        for (int64_t column = 0; column < width; column += ORBITS * W) {
            Floats cx[ORBITS];
            Ints steps[ORBITS];
            for (int g = 0; g < ORBITS; g++) {
                const Floats offset = lane + floats(column + g * W + 0.5f) - floats(0.5f * width);
                cx[g] = floats(view->pixel) * offset + floats(view->centre[0]);
            }
            escape_times(cx, cy, limit, steps);
            for (int g = 0; g < ORBITS; g++) {
                const int64_t i = row * width + column + g * W, left = width - column - g * W;
                store_ints_left(escapes + i, left, steps[g]);
                store_ints_left(picture + i, left, colours(steps[g], limit));
            }
        }
    }
}

typedef struct { Words n; Ints steps, alive; int64_t place; } Climb;

/* The exponent of the lowest bit as a float says how often each number can be halved. Then one step up. */
INLINE void climb(Climb *c) {
    const Ints lowest = (Ints)(c->n & -c->n);
    const Words exponent = (Words)_mm256_cvtepi32_ps((__m256i)lowest) << 1 >> 24;
    const Ints halvings = (Ints)exponent - 127;
    c->n = c->n >> (Words)(halvings & c->alive);
    c->steps += halvings & c->alive;
    c->alive &= (Ints)c->n != 1;
    const Words largest = words((0xffffffffu - 1) / 3);
    const Ints given_up = c->alive & ~(Ints)(greatest_words((Ints)c->n, (Ints)largest) == (Ints)largest);
    c->steps |= given_up;
    c->alive &= ~given_up;
    c->steps -= c->alive;
    c->n += (Words)c->alive & (c->n + c->n + 1);
}

INLINE void begin_climb(Climb *c, const uint32_t *starts, int64_t place, int64_t end) {
    c->place = place;
    c->n = (Words)load_ints_left(starts + min64(place, end), end - place);
    c->steps = ints(0);
    c->alive = ~(Ints)(least_words((Ints)c->n, ints(1)) == (Ints)c->n);
}

/* Several vectors climb at once; each goes on to the next numbers when its own have all ended. */
void collatz(const uint32_t *starts, int32_t *lengths, int64_t count) {
    enum { PART = 2048, CLIMBS = 4 };
#pragma omp parallel for schedule(dynamic)
    for (int64_t start = 0; start < count; start += PART) {
        const int64_t end = min64(start + PART, count);
        Climb climbs[CLIMBS];
        int64_t next = start;
        for (int g = 0; g < CLIMBS; g++, next += W) begin_climb(&climbs[g], starts, next, end);
        for (int64_t left = end - start; left > 0;) {
#pragma GCC unroll 4
            for (int g = 0; g < CLIMBS; g++) {
                Climb *c = &climbs[g];
                climb(c);
                if (any((Floats)c->alive) || c->place >= end) continue;
                store_ints_left(lengths + c->place, end - c->place, c->steps);
                left -= W;
                begin_climb(c, starts, next, end);
                next += W;
            }
        }
    }
}

/* Two zeros between any two of the ten lowest bits of each lane. */
INLINE Ints spread_bits(Ints v) {
    v = (v | v << 16) & (int)0xff0000ffu;
    v = (v | v << 8) & 0x0f00f00f;
    v = (v | v << 4) & (int)0xc30c30c3u;
    return (v | v << 2) & 0x49249249;
}

/* Eight points are three vectors. Element 3 * lane + axis lies at another place of its vector for each lane, so that
   the coordinates of an axis are blended into one vector and put in order. */
void morton(const float *positions, uint32_t *codes, int64_t position_count, int64_t count) {
    const Ints third = 3 * lane_numbers();
    (void)position_count;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i += W) {
        Ints part[3], code = ints(0);
#pragma GCC unroll 3
        for (int p = 0; p < 3; p++) {
            const Floats v = load_left(positions + 3 * i + p * W, 3 * (count - i) - p * W) * floats(1024);
            part[p] = (Ints)_mm256_cvttps_epi32(_mm256_min_ps(_mm256_max_ps(v, floats(0)), floats(1023)));
        }
#pragma GCC unroll 3
        for (int p = 0; p < 3; p++) part[p] = spread_bits(part[p]);
        const __m256i a = (__m256i)part[0], b = (__m256i)part[1], c = (__m256i)part[2];
        const __m256i mixed[3] = {_mm256_blend_epi32(_mm256_blend_epi32(a, b, 0x92), c, 0x24),
                                  _mm256_blend_epi32(_mm256_blend_epi32(a, b, 0x24), c, 0x49),
                                  _mm256_blend_epi32(_mm256_blend_epi32(a, b, 0x49), c, 0x92)};
#pragma GCC unroll 3
        for (int axis = 0; axis < 3; axis++)
            code |= (Ints)_mm256_permutevar8x32_epi32(mixed[axis], (__m256i)((third + axis) & 7)) << (2 - axis);
        store_ints_left(codes + i, count - i, code);
    }
}
