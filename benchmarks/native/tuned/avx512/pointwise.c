/* Element by element, and long chains of dependent operations; see lanes.h. */
#include "lanes.h"

void saxpy(const SaxpyParams *params, const float *x, float *y) {
    const __m512 a = _mm512_set1_ps(params->a);
    const int64_t n = params->n;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i += W) {
        if (i + W <= n) {
            _mm512_storeu_ps(y + i, _mm512_fmadd_ps(a, _mm512_loadu_ps(x + i), _mm512_loadu_ps(y + i)));
        } else {
            const __mmask16 here = lanes_left(n - i);
            const __m512 sum = _mm512_fmadd_ps(a, _mm512_maskz_loadu_ps(here, x + i), _mm512_maskz_loadu_ps(here, y + i));
            _mm512_mask_storeu_ps(y + i, here, sum);
        }
    }
}

void vec4_math(const float *x, const float *exponent, float *exp_x, float *sin_x, float *sqrt_x, float *pow_x,
               int64_t count) {
    const __m512 power = _mm512_set1_ps(*exponent), half = _mm512_set1_ps(0.5f);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < 4 * count; i += W) {
        const __mmask16 here = lanes_left(4 * count - i);
        const __m512 v = _mm512_maskz_loadu_ps(here, x + i), size = _mm512_abs_ps(v);
        _mm512_mask_storeu_ps(exp_x + i, here, _ZGVeN16v_expf(v));
        _mm512_mask_storeu_ps(sin_x + i, here, _ZGVeN16v_sinf(v));
        _mm512_mask_storeu_ps(sqrt_x + i, here, _mm512_sqrt_ps(size));
        _mm512_mask_storeu_ps(pow_x + i, here, _ZGVeN16vv_powf(_mm512_add_ps(size, half), power));
    }
}

void half_axpy(const _Float16 *a, const uint16_t *x, uint16_t *y, int64_t count) {
    const float even = (float)a[0], odd = (float)a[1];
    const __m512 factors = _mm512_mask_blend_ps(0xaaaa, _mm512_set1_ps(even), _mm512_set1_ps(odd));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < 2 * count; i += W) {
        const __mmask16 here = lanes_left(2 * count - i);
        const __m512 wide_x = _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(here, x + i));
        const __m512 wide_y = _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(here, y + i));
        const __m512 sum = _mm512_fmadd_ps(factors, wide_x, wide_y);
        _mm256_mask_storeu_epi16(y + i, here, _mm512_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
}

void grayscale(const uint32_t *pixels, uint32_t *grey_pixels, Range *range, int64_t count) {
    const __m512i byte = _mm512_set1_epi32(0xff);
    uint32_t darkest = range->darkest, brightest = range->brightest;
#pragma omp parallel reduction(min : darkest) reduction(max : brightest)
    {
        __m512i lowest = _mm512_set1_epi32(-1), highest = _mm512_setzero_si512();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < count; i += W) {
            const __mmask16 here = lanes_left(count - i);
            const __m512i pixel = _mm512_maskz_loadu_epi32(here, pixels + i);
            const __m512i red = _mm512_mullo_epi16(_mm512_and_si512(pixel, byte), _mm512_set1_epi32(77));
            const __m512i green = _mm512_and_si512(_mm512_srli_epi32(pixel, 8), byte);
            const __m512i blue = _mm512_and_si512(_mm512_srli_epi32(pixel, 16), byte);
            /* Pairs of 16 bits: products stay below 2^16 as green's are the greatest, 255 * 150. */
            __m512i grey = _mm512_add_epi32(red, _mm512_mullo_epi16(green, _mm512_set1_epi32(150)));
            grey = _mm512_add_epi32(grey, _mm512_mullo_epi16(blue, _mm512_set1_epi32(29)));
            grey = _mm512_srli_epi32(grey, 8);
            const __m512i copies = _mm512_or_si512(grey, _mm512_or_si512(_mm512_slli_epi32(grey, 8), _mm512_slli_epi32(grey, 16)));
            const __m512i alpha = _mm512_andnot_si512(_mm512_set1_epi32(0xffffff), pixel);
            _mm512_mask_storeu_epi32(grey_pixels + i, here, _mm512_or_si512(copies, alpha));
            lowest = _mm512_mask_min_epu32(lowest, here, lowest, grey);
            highest = _mm512_mask_max_epu32(highest, here, highest, grey);
        }
        const uint32_t low = _mm512_reduce_min_epu32(lowest), high = _mm512_reduce_max_epu32(highest);
        darkest = low < darkest ? low : darkest;
        brightest = high > brightest ? high : brightest;
    }
    range->darkest = darkest;
    range->brightest = brightest;
}

/* Long chains of dependent operations: several vectors at once hide their latency */

enum { HASHES = 8 };

INLINE __m512i pcg_lanes(__m512i input) {
    const __m512i factor = _mm512_set1_epi32(747796405), term = _mm512_set1_epi32((int)2891336453u);
    const __m512i state = _mm512_add_epi32(_mm512_mullo_epi32(input, factor), term);
    const __m512i shift = _mm512_add_epi32(_mm512_srli_epi32(state, 28), _mm512_set1_epi32(4));
    const __m512i mixed = _mm512_xor_si512(_mm512_srlv_epi32(state, shift), state);
    const __m512i word = _mm512_mullo_epi32(mixed, _mm512_set1_epi32(277803737));
    return _mm512_xor_si512(_mm512_srli_epi32(word, 22), word);
}

void pcg_hash(const HashParams *params, uint32_t *hashes, float *unit_floats, int64_t count) {
    const uint32_t seed = params->seed, rounds = params->rounds;
    const __m512i lane = lane_numbers();
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i += HASHES * W) {
        __m512i hash[HASHES];
#pragma GCC unroll 8
        for (int g = 0; g < HASHES; g++) hash[g] = _mm512_add_epi32(_mm512_set1_epi32((int)(i + g * W + seed)), lane);
        for (uint32_t round = 0; round < rounds; round++)
#pragma GCC unroll 8
            for (int g = 0; g < HASHES; g++) hash[g] = pcg_lanes(hash[g]);
#pragma GCC unroll 8
        for (int g = 0; g < HASHES; g++) {
            const __mmask16 here = lanes_left(count - i - g * W);
            const __m512i bits = _mm512_or_si512(_mm512_set1_epi32(0x3f800000), _mm512_srli_epi32(hash[g], 9));
            _mm512_mask_storeu_epi32(hashes + i + g * W, here, hash[g]);
            const __m512 number = _mm512_sub_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(1));
            _mm512_mask_storeu_ps(unit_floats + i + g * W, here, number);
        }
    }
}

enum { ORBITS = 4 };

/* The escape times of 64 points of a row. */
INLINE void escape_times(const __m512 cx[ORBITS], __m512 cy, uint32_t limit, __m512i steps[ORBITS]) {
    const __m512 four = _mm512_set1_ps(4);
    const __m512i one = _mm512_set1_epi32(1);
    __m512 x[ORBITS], y[ORBITS];
    __mmask16 alive[ORBITS];
#pragma GCC unroll 4
    for (int g = 0; g < ORBITS; g++) {
        x[g] = y[g] = _mm512_setzero_ps();
        steps[g] = _mm512_setzero_si512();
        alive[g] = 0xffff;
    }
    for (uint32_t step = 0; step < limit; step++) {
#pragma GCC unroll 4
        for (int g = 0; g < ORBITS; g++) {
            const __m512 xx = _mm512_mul_ps(x[g], x[g]), yy = _mm512_mul_ps(y[g], y[g]);
            alive[g] = _mm512_mask_cmp_ps_mask(alive[g], _mm512_add_ps(xx, yy), four, _CMP_LE_OQ);
            steps[g] = _mm512_mask_add_epi32(steps[g], alive[g], steps[g], one);
            y[g] = _mm512_fmadd_ps(_mm512_add_ps(x[g], x[g]), y[g], cy);
            x[g] = _mm512_add_ps(_mm512_sub_ps(xx, yy), cx[g]);
        }
        if (!(alive[0] | alive[1] | alive[2] | alive[3])) break;
    }
}

INLINE __m512i colours(__m512i steps, uint32_t limit) {
    const __m512i most = _mm512_set1_epi32(255), opaque = _mm512_set1_epi32((int)0xff000000u);
    const __m512i red = _mm512_min_epu32(most, _mm512_slli_epi32(steps, 3));
    const __m512i green = _mm512_and_si512(most, _mm512_add_epi32(steps, _mm512_slli_epi32(steps, 2)));
    const __m512i blue = _mm512_sub_epi32(most, _mm512_min_epu32(most, _mm512_slli_epi32(steps, 2)));
    const __m512i mixed = _mm512_or_si512(_mm512_or_si512(_mm512_slli_epi32(blue, 16), _mm512_slli_epi32(green, 8)), red);
    const __mmask16 outside = _mm512_cmpneq_epu32_mask(steps, _mm512_set1_epi32((int)limit));
    return _mm512_mask_or_epi32(opaque, outside, opaque, mixed);
}

void mandelbrot(const View *view, uint32_t *escapes, uint32_t *picture) {
    const int64_t width = view->size[0], height = view->size[1];
    const uint32_t limit = view->limit;
    const __m512 lane = _mm512_set_ps(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
#pragma omp parallel for schedule(dynamic, 2)
    for (int64_t row = 0; row < height; row++) {
        const __m512 cy = _mm512_set1_ps(view->centre[1] + view->pixel * (row + 0.5f - 0.5f * height));
        for (int64_t column = 0; column < width; column += ORBITS * W) {
            __m512 cx[ORBITS];
            __m512i steps[ORBITS];
            for (int g = 0; g < ORBITS; g++) {
                const __m512 at = _mm512_add_ps(lane, _mm512_set1_ps(column + g * W + 0.5f));
                const __m512 offset = _mm512_sub_ps(at, _mm512_set1_ps(0.5f * width));
                cx[g] = _mm512_fmadd_ps(_mm512_set1_ps(view->pixel), offset, _mm512_set1_ps(view->centre[0]));
            }
            escape_times(cx, cy, limit, steps);
            for (int g = 0; g < ORBITS; g++) {
                const int64_t i = row * width + column + g * W;
                const __mmask16 here = lanes_left(width - column - g * W);
                _mm512_mask_storeu_epi32(escapes + i, here, steps[g]);
                _mm512_mask_storeu_epi32(picture + i, here, colours(steps[g], limit));
            }
        }
    }
}

void collatz(const uint32_t *starts, int32_t *lengths, int64_t count) {
    const __m512i one = _mm512_set1_epi32(1), largest = _mm512_set1_epi32((int)((0xffffffffu - 1) / 3));
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < count; i += W) {
        const __mmask16 here = lanes_left(count - i);
        __m512i n = _mm512_maskz_loadu_epi32(here, starts + i), steps = _mm512_setzero_si512();
        __mmask16 alive = _mm512_cmpgt_epu32_mask(n, one);
        while (alive) {
            /* Halve as often as possible (not at all when odd), then one step up. */
            const __m512i lowest = _mm512_and_si512(n, _mm512_sub_epi32(_mm512_setzero_si512(), n));
            const __m512i halvings = _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(lowest));
            n = _mm512_mask_srlv_epi32(n, alive, n, halvings);
            steps = _mm512_mask_add_epi32(steps, alive, steps, halvings);
            alive = _mm512_mask_cmpgt_epu32_mask(alive, n, one);
            const __mmask16 given_up = _mm512_mask_cmpgt_epu32_mask(alive, n, largest);
            steps = _mm512_mask_set1_epi32(steps, given_up, -1);
            alive &= ~given_up;
            n = _mm512_mask_add_epi32(n, alive, _mm512_add_epi32(n, n), _mm512_add_epi32(n, one));
            steps = _mm512_mask_add_epi32(steps, alive, steps, one);
        }
        _mm512_mask_storeu_epi32(lengths + i, here, steps);
    }
}

/* Two zeros between any two of the ten lowest bits of each lane. */
INLINE __m512i spread_bits(__m512i v) {
    const int masks[4] = {(int)0xff0000ffu, 0x0f00f00f, (int)0xc30c30c3u, 0x49249249};
#pragma GCC unroll 4
    for (int step = 0; step < 4; step++) {
        /* (v | v << 16, 8, 4, 2) & mask */
        const __m512i moved = _mm512_slli_epi32(v, 16 >> step);
        v = _mm512_ternarylogic_epi32(v, moved, _mm512_set1_epi32(masks[step]), 0xa8);
    }
    return v;
}

/* Sixteen points are three vectors; the coordinates of each axis are picked from them. */
void morton(const float *positions, uint32_t *codes, int64_t position_count, int64_t count) {
    const __m512i third = _mm512_add_epi32(lane_numbers(), _mm512_slli_epi32(lane_numbers(), 1));
    (void)position_count;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i += W) {
        __m512 part[3];
        __m512i code = _mm512_setzero_si512();
#pragma GCC unroll 3
        for (int p = 0; p < 3; p++) {
            part[p] = _mm512_maskz_loadu_ps(lanes_left(3 * (count - i) - p * W), positions + 3 * i + p * W);
            part[p] = _mm512_mul_ps(part[p], _mm512_set1_ps(1024));
            part[p] = _mm512_min_ps(_mm512_max_ps(part[p], _mm512_setzero_ps()), _mm512_set1_ps(1023));
        }
#pragma GCC unroll 3
        for (int axis = 0; axis < 3; axis++) {
            /* Element 3 * lane + axis of 48: of the first two vectors by five bits, of the third from 32 on. */
            const __m512i at = _mm512_add_epi32(third, _mm512_set1_epi32(axis));
            const __mmask16 in_third = _mm512_cmpge_epi32_mask(at, _mm512_set1_epi32(2 * W));
            __m512 coordinate = _mm512_permutex2var_ps(part[0], at, part[1]);
            coordinate = _mm512_mask_permutexvar_ps(coordinate, in_third, at, part[2]);
            const __m512i bits = spread_bits(_mm512_cvttps_epi32(coordinate));
            code = _mm512_or_si512(code, _mm512_slli_epi32(bits, 2 - axis));
        }
        _mm512_mask_storeu_epi32(codes + i, lanes_left(count - i), code);
    }
}
