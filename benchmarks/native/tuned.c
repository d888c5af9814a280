/* The kernels as well as we can write them by hand for AVX-512: intrinsics, blocking, several chains at once.

   They know what the plain loops know, no more: the same parameters, any size, the same result within the same
   tolerance. Other orders of adding and approximate reciprocals are used where that tolerance allows. */
#include "kernels.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

enum { W = 16 };

/* libmvec's functions on 16 lanes; the compiler itself calls them only under -ffast-math. */
__m512 _ZGVeN16v_expf(__m512);
__m512 _ZGVeN16v_sinf(__m512);
__m512 _ZGVeN16vv_powf(__m512, __m512);

/* The lanes of a vector that begins `left` elements before the end. */
INLINE __mmask16 lanes_left(int64_t left) { return left >= W ? 0xffff : left <= 0 ? 0 : (__mmask16)((1u << left) - 1); }

/* Element by element */

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
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
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

/* Matrix products: panels of b, 64 columns wide, are copied together; 6 x 64 elements of c stay in registers */

enum { ROWS = 6, VECTORS = 4, COLUMNS = VECTORS * W, DEPTH = 512, ROW_CHUNK = 16 * ROWS };

INLINE void tile(int rows, int64_t depth, const float *a, int64_t a_stride, const float *panel, float *c,
                 int64_t c_stride, int64_t columns, int adds) {
    __m512 sum[ROWS][VECTORS];
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            sum[r][v] = adds ? _mm512_maskz_loadu_ps(lanes_left(columns - v * W), c + r * c_stride + v * W)
                             : _mm512_setzero_ps();
    for (int64_t i = 0; i < depth; i++) {
        __m512 b[VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++) b[v] = _mm512_load_ps(panel + i * COLUMNS + v * W);
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) {
            const __m512 factor = _mm512_set1_ps(a[r * a_stride + i]);
#pragma GCC unroll 4
            for (int v = 0; v < VECTORS; v++) sum[r][v] = _mm512_fmadd_ps(factor, b[v], sum[r][v]);
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            _mm512_mask_storeu_ps(c + r * c_stride + v * W, lanes_left(columns - v * W), sum[r][v]);
}

static void strip(int64_t rows, int64_t depth, const float *a, int64_t a_stride, const float *panel, float *c,
                  int64_t c_stride, int64_t columns, int adds) {
    for (; rows >= ROWS; rows -= ROWS, a += ROWS * a_stride, c += ROWS * c_stride)
        tile(ROWS, depth, a, a_stride, panel, c, c_stride, columns, adds);
    for (; rows > 0; rows--, a += a_stride, c += c_stride) tile(1, depth, a, a_stride, panel, c, c_stride, columns, adds);
}

static void matmul(const MatmulSize *size, const float *a, const float *b, float *c) {
    const int64_t m = size->m, k = size->k, n = size->n;
    const int64_t panels = (n + COLUMNS - 1) / COLUMNS, chunks = (m + ROW_CHUNK - 1) / ROW_CHUNK;
    float *packed = _mm_malloc(panels * k * COLUMNS * sizeof *packed, 64);
#pragma omp parallel
    {
#pragma omp for schedule(static) collapse(2)
        for (int64_t panel = 0; panel < panels; panel++)
            for (int64_t i = 0; i < k; i++)
                for (int v = 0; v < VECTORS; v++) {
                    const int64_t column = panel * COLUMNS + v * W;
                    const __m512 part = _mm512_maskz_loadu_ps(lanes_left(n - column), b + i * n + column);
                    _mm512_store_ps(packed + (panel * k + i) * COLUMNS + v * W, part);
                }
#pragma omp for schedule(dynamic) collapse(2)
        for (int64_t panel = 0; panel < panels; panel++)
            for (int64_t chunk = 0; chunk < chunks; chunk++) {
                const int64_t top = chunk * ROW_CHUNK, left = panel * COLUMNS;
                for (int64_t start = 0; start < k; start += DEPTH)
                    strip(min64(ROW_CHUNK, m - top), min64(DEPTH, k - start), a + top * k + start, k,
                          packed + (panel * k + start) * COLUMNS, c + top * n + left, n, n - left, start > 0);
            }
    }
    _mm_free(packed);
}

void matmul_naive(const MatmulSize *size, const float *a, const float *b, float *c) { matmul(size, a, b, c); }

void matmul_tiled(const MatmulSize *size, const float *a, const float *b, float *c) { matmul(size, a, b, c); }

/* Sums, scans and counts */

void reduce(const float *values, float *partial_sums, int64_t count, int64_t blocks) {
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t start = block * REDUCE_BLOCK, end = min64(start + REDUCE_BLOCK, count);
        __m512 sum[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
        if (end - start == REDUCE_BLOCK) {
            for (int64_t i = start; i < end; i += 4 * W)
#pragma GCC unroll 4
                for (int g = 0; g < 4; g++) sum[g] = _mm512_add_ps(sum[g], _mm512_loadu_ps(values + i + g * W));
        } else {
            for (int64_t i = start; i < end; i += W)
                sum[0] = _mm512_add_ps(sum[0], _mm512_maskz_loadu_ps(lanes_left(end - i), values + i));
        }
        const __m512 all = _mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3]));
        partial_sums[block] = _mm512_reduce_add_ps(all);
    }
}

/* Adds to each lane those below it. */
INLINE __m512i inclusive_sums(__m512i v) {
    const __m512i zero = _mm512_setzero_si512();
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 15));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 14));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 12));
    return _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 8));
}

INLINE void scan_block(const uint32_t *values, uint32_t *sums, uint32_t *block_sum, int64_t length, int is_exclusive) {
    const __m512i last = _mm512_set1_epi32(15);
    __m512i before = _mm512_setzero_si512();
    for (int64_t i = 0; i < length; i += W) {
        const __mmask16 here = lanes_left(length - i);
        const __m512i v = _mm512_maskz_loadu_epi32(here, values + i);
        const __m512i here_sums = inclusive_sums(v);
        const __m512i own = is_exclusive ? _mm512_sub_epi32(here_sums, v) : here_sums;
        _mm512_mask_storeu_epi32(sums + i, here, _mm512_add_epi32(own, before));
        before = _mm512_add_epi32(before, _mm512_permutexvar_epi32(last, here_sums));
    }
    *block_sum = (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(before));
}

void scan_hillis_steele(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                        int64_t blocks) {
    enum { BLOCK = HILLIS_STEELE_BLOCK };
    (void)sum_count;
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++)
        scan_block(values + block * BLOCK, sums + block * BLOCK, block_sums + block, min64(BLOCK, count - block * BLOCK), 0);
}

void scan_blelloch(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                   int64_t blocks) {
    enum { BLOCK = BLELLOCH_BLOCK };
    (void)sum_count;
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++)
        scan_block(values + block * BLOCK, sums + block * BLOCK, block_sums + block, min64(BLOCK, count - block * BLOCK), 1);
}

/* A table for each byte of a word, and two words at a time: equal neighbours then do not wait for each other. */
static void count_bytes(const uint32_t *words, uint32_t *counts, int64_t count) {
#pragma omp parallel
    {
        uint32_t mine[8][BINS] = {{0}};
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < count / 2; i++) {
            uint64_t pair;
            memcpy(&pair, words + 2 * i, sizeof pair);
#pragma GCC unroll 8
            for (int byte = 0; byte < 8; byte++) mine[byte][pair >> 8 * byte & 0xff]++;
        }
#pragma omp critical
        for (int bin = 0; bin < BINS; bin++)
            for (int byte = 0; byte < 8; byte++) counts[bin] += mine[byte][bin];
    }
    if (count % 2)
        for (int shift = 0; shift < 32; shift += 8) counts[words[count - 1] >> shift & 0xff]++;
}

void histogram_global(const uint32_t *words, uint32_t *counts, int64_t count) { count_bytes(words, counts, count); }

void histogram_local(const uint32_t *words, uint32_t *counts, int64_t count) { count_bytes(words, counts, count); }

/* One addition to the shared counter for every 4096 values; each thread gathers its finds first. */
void compact(const float *threshold, const float *values, uint32_t *count, Kept *kept, int64_t value_count,
             int64_t kept_count) {
    enum { CHUNK = 4096 };
    const __m512 least = _mm512_set1_ps(*threshold);
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < value_count; start += CHUNK) {
        uint32_t indices[CHUNK + W];
        int64_t found = 0;
        for (int64_t i = start; i < min64(start + CHUNK, value_count); i += W) {
            const __mmask16 here = lanes_left(value_count - i);
            const __m512 v = _mm512_maskz_loadu_ps(here, values + i);
            const __mmask16 kept_here = _mm512_mask_cmp_ps_mask(here, v, least, _CMP_GT_OQ);
            const __m512i index = _mm512_add_epi32(lane, _mm512_set1_epi32((int)i));
            _mm512_storeu_epi32(indices + found, _mm512_maskz_compress_epi32(kept_here, index));
            found += __builtin_popcount(kept_here);
        }
        const int64_t place = __atomic_fetch_add(count, (uint32_t)found, __ATOMIC_RELAXED);
        for (int64_t i = 0; i < min64(found, kept_count - place); i++)
            kept[place + i] = (Kept){indices[i], values[indices[i]]};
    }
}

void softmax(const uint32_t *columns, const float *scores, float *shares, int64_t count) {
    const int64_t width = *columns, rows = count / width;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        const float *from = scores + row * width;
        float *to = shares + row * width;
        __m512 greatest = _mm512_set1_ps(from[0]), sum = _mm512_setzero_ps();
        for (int64_t i = 0; i < width; i += W)
            greatest = _mm512_mask_max_ps(greatest, lanes_left(width - i), greatest,
                                          _mm512_maskz_loadu_ps(lanes_left(width - i), from + i));
        greatest = _mm512_set1_ps(_mm512_reduce_max_ps(greatest));
        for (int64_t i = 0; i < width; i += W) {
            const __mmask16 here = lanes_left(width - i);
            const __m512 weight = _ZGVeN16v_expf(_mm512_sub_ps(_mm512_maskz_loadu_ps(here, from + i), greatest));
            _mm512_mask_storeu_ps(to + i, here, weight);
            sum = _mm512_mask_add_ps(sum, here, sum, weight);
        }
        const __m512 inverse = _mm512_set1_ps(1 / _mm512_reduce_add_ps(sum));
        for (int64_t i = 0; i < width; i += W) {
            const __mmask16 here = lanes_left(width - i);
            _mm512_mask_storeu_ps(to + i, here, _mm512_mul_ps(_mm512_maskz_loadu_ps(here, to + i), inverse));
        }
    }
}

void spmv(const uint32_t *row_starts, const Element *elements, const float *vector, float *product, int64_t start_count,
          int64_t element_count, int64_t vector_count, int64_t rows) {
    const __m512i columns = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i values = _mm512_add_epi32(columns, _mm512_set1_epi32(1));
    (void)start_count, (void)element_count, (void)vector_count;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        const int64_t end = row_starts[row + 1];
        __m512 sum = _mm512_setzero_ps();
        for (int64_t i = row_starts[row]; i < end; i += W) {
            const float *pairs = (const float *)(elements + i);
            const __m512 low = _mm512_maskz_loadu_ps(lanes_left(2 * (end - i)), pairs);
            const __m512 high = _mm512_maskz_loadu_ps(lanes_left(2 * (end - i) - W), pairs + W);
            const __m512i column = _mm512_castps_si512(_mm512_permutex2var_ps(low, columns, high));
            const __m512 value = _mm512_permutex2var_ps(low, values, high);
            const __m512 factor = _mm512_mask_i32gather_ps(sum, lanes_left(end - i), column, vector, 4);
            sum = _mm512_mask3_fmadd_ps(value, factor, sum, lanes_left(end - i));
        }
        product[row] = _mm512_reduce_add_ps(sum);
    }
}

/* Pictures */

/* A row of vertical sums in a buffer, then sums along it; the buffer stays in the first cache. */
void blur(const uint32_t *size, const float *source, float *blurred) {
    const int64_t width = size[0], height = size[1];
#pragma omp parallel
    {
        float *sums = _mm_malloc((width + 2 + 4 * W) * sizeof *sums, 64), *middle = sums + W;
#pragma omp for schedule(static)
        for (int64_t y = 0; y < height; y++) {
            const float *above = source + max64(y - 1, 0) * width, *here = source + y * width;
            const float *below = source + min64(y + 1, height - 1) * width;
            float *to = blurred + y * width;
#pragma omp simd
            for (int64_t x = 0; x < width; x++) middle[x] = 0.0625f * (above[x] + below[x]) + 0.125f * here[x];
            middle[-1] = middle[0];
            middle[width] = middle[width - 1];
#pragma omp simd
            for (int64_t x = 0; x < width; x++) to[x] = (middle[x - 1] + middle[x + 1]) + 2 * middle[x];
        }
        _mm_free(sums);
    }
}

void life(const int32_t *size, const uint32_t *cells, uint32_t *next_cells) {
    const int64_t width = size[0], height = size[1];
#pragma omp parallel
    {
        uint32_t *sums = _mm_malloc((width + 2 + 4 * W) * sizeof *sums, 64), *middle = sums + W;
#pragma omp for schedule(static)
        for (int64_t y = 0; y < height; y++) {
            const uint32_t *above = cells + (y ? y - 1 : height - 1) * width, *here = cells + y * width;
            const uint32_t *below = cells + (y + 1 < height ? y + 1 : 0) * width;
            uint32_t *to = next_cells + y * width;
#pragma omp simd
            for (int64_t x = 0; x < width; x++) middle[x] = above[x] + here[x] + below[x];
            middle[-1] = middle[width - 1];
            middle[width] = middle[0];
            /* The cell itself is in the sum: 3 with it or without lives on, 4 only with it. */
#pragma omp simd
            for (int64_t x = 0; x < width; x++) {
                const uint32_t sum = middle[x - 1] + middle[x] + middle[x + 1];
                to[x] = (sum == 3) | ((sum == 4) & here[x]);
            }
        }
        _mm_free(sums);
    }
}

INLINE void swap_halves(__m512i *a, __m512i *b, __m512i low, __m512i high) {
    const __m512i first = *a, second = *b;
    *a = _mm512_permutex2var_epi32(first, low, second);
    *b = _mm512_permutex2var_epi32(first, high, second);
}

/* 16 x 16 elements: in round r, rows that differ in bit r exchange the columns that differ in it. */
INLINE void transpose_tile(const float *from, int64_t from_stride, float *to, int64_t to_stride) {
    __m512i row[W];
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
#pragma GCC unroll 16
    for (int r = 0; r < W; r++) row[r] = _mm512_loadu_si512(from + r * from_stride);
#pragma GCC unroll 4
    for (int bit = 1; bit < W; bit *= 2) {
        const __m512i bits = _mm512_set1_epi32(bit);
        const __mmask16 upper = _mm512_test_epi32_mask(lane, bits);
        /* Lanes of the second operand are numbered from 16. */
        const __m512i low = _mm512_mask_add_epi32(lane, upper, _mm512_sub_epi32(lane, bits), _mm512_set1_epi32(W));
        const __m512i high = _mm512_mask_mov_epi32(_mm512_add_epi32(lane, bits), upper, _mm512_add_epi32(lane, _mm512_set1_epi32(W)));
#pragma GCC unroll 16
        for (int r = 0; r < W; r++)
            if (!(r & bit)) swap_halves(&row[r], &row[r | bit], low, high);
    }
#pragma GCC unroll 16
    for (int r = 0; r < W; r++) _mm512_storeu_si512(to + r * to_stride, row[r]);
}

void transpose(const uint32_t *size, const float *matrix, float *transposed) {
    const int64_t columns = size[0], rows = size[1];
    const int64_t whole_columns = columns / W * W, whole_rows = rows / W * W;
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (int64_t left = 0; left < whole_columns; left += W)
            for (int64_t top = 0; top < whole_rows; top += W)
                transpose_tile(matrix + top * columns + left, columns, transposed + left * rows + top, rows);
#pragma omp for schedule(static)
        for (int64_t row = 0; row < rows; row++)
            for (int64_t column = row < whole_rows ? whole_columns : 0; column < columns; column++)
                transposed[column * rows + row] = matrix[row * columns + column];
    }
}

/* Bodies */

enum { GANGS = 4 };

/* 1 / sqrt(v) to 2 ULP: an estimate of 14 bits and a Newton step. */
INLINE __m512 inverse_sqrt(__m512 v) {
    const __m512 guess = _mm512_rsqrt14_ps(v), half = _mm512_set1_ps(0.5f);
    const __m512 error = _mm512_fnmadd_ps(_mm512_mul_ps(v, guess), guess, _mm512_set1_ps(1));
    return _mm512_fmadd_ps(_mm512_mul_ps(half, guess), error, guess);
}

void nbody(const NbodyParams *params, const Vec4 *bodies, Vec4 *velocities, Vec4 *moved) {
    const int64_t n = params->count, padded = (n + GANGS * W - 1) / (GANGS * W) * GANGS * W;
    const __m512 softening = _mm512_set1_ps(params->softening_squared);
    const float step = params->time_step;
    float *x = _mm_malloc(6 * padded * sizeof *x, 64), *y = x + padded, *z = y + padded, *sums = z + padded;
    for (int64_t i = 0; i < padded; i++) {
        const Vec4 body = bodies[min64(i, n - 1)];
        x[i] = body.x, y[i] = body.y, z[i] = body.z;
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < padded; i += GANGS * W) {
        __m512 ax[GANGS], ay[GANGS], az[GANGS], px[GANGS], py[GANGS], pz[GANGS];
#pragma GCC unroll 4
        for (int g = 0; g < GANGS; g++) {
            ax[g] = ay[g] = az[g] = _mm512_setzero_ps();
            px[g] = _mm512_load_ps(x + i + g * W), py[g] = _mm512_load_ps(y + i + g * W), pz[g] = _mm512_load_ps(z + i + g * W);
        }
        for (int64_t j = 0; j < n; j++) {
            const __m512 bx = _mm512_set1_ps(bodies[j].x), by = _mm512_set1_ps(bodies[j].y);
            const __m512 bz = _mm512_set1_ps(bodies[j].z), mass = _mm512_set1_ps(bodies[j].w);
#pragma GCC unroll 4
            for (int g = 0; g < GANGS; g++) {
                const __m512 dx = _mm512_sub_ps(bx, px[g]), dy = _mm512_sub_ps(by, py[g]), dz = _mm512_sub_ps(bz, pz[g]);
                const __m512 squared = _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_fmadd_ps(dz, dz, softening)));
                const __m512 inverse = inverse_sqrt(squared);
                const __m512 strength = _mm512_mul_ps(_mm512_mul_ps(mass, inverse), _mm512_mul_ps(inverse, inverse));
                ax[g] = _mm512_fmadd_ps(strength, dx, ax[g]);
                ay[g] = _mm512_fmadd_ps(strength, dy, ay[g]);
                az[g] = _mm512_fmadd_ps(strength, dz, az[g]);
            }
        }
#pragma GCC unroll 4
        for (int g = 0; g < GANGS; g++) {
            _mm512_store_ps(sums + i + g * W, ax[g]);
            _mm512_store_ps(sums + padded + i + g * W, ay[g]);
            _mm512_store_ps(sums + 2 * padded + i + g * W, az[g]);
        }
        for (int64_t body = i; body < min64(i + GANGS * W, n); body++) {
            const Vec4 me = bodies[body], old = velocities[body];
            const Vec4 v = {old.x + step * sums[body], old.y + step * sums[padded + body], old.z + step * sums[2 * padded + body], 0};
            velocities[body] = v;
            moved[body] = (Vec4){me.x + step * v.x, me.y + step * v.y, me.z + step * v.z, me.w};
        }
    }
    _mm_free(x);
}

/* Sorting */

INLINE void exchange(float *lower, float *upper, int is_ascending) {
    const float a = *lower, b = *upper;
    if ((a > b) == is_ascending) *lower = b, *upper = a;
}

/* Pairs lie in blocks of 2 * reach; from 16 on, whole vectors meet. */
void bitonic_step(const Step *merge, float *keys, int64_t count) {
    const int64_t block = merge->block, reach = merge->reach;
    const int64_t pairs = (count + 2 * reach - 1) / (2 * reach) * reach;
#pragma omp parallel for schedule(static)
    for (int64_t pair = 0; pair < pairs; pair += W) {
        const int64_t i = 2 * (pair & -reach) + (pair & (reach - 1));
        if (reach >= W && block >= W && i + reach + W <= count) {
            const __m512 a = _mm512_loadu_ps(keys + i), b = _mm512_loadu_ps(keys + i + reach);
            const int is_ascending = !(i & block);
            _mm512_storeu_ps(keys + i, is_ascending ? _mm512_min_ps(a, b) : _mm512_max_ps(a, b));
            _mm512_storeu_ps(keys + i + reach, is_ascending ? _mm512_max_ps(a, b) : _mm512_min_ps(a, b));
        } else {
            for (int64_t p = pair; p < min64(pair + W, pairs); p++) {
                const int64_t j = 2 * (p & -reach) + (p & (reach - 1));
                if (j + reach < count) exchange(keys + j, keys + j + reach, !(j & block));
            }
        }
    }
}

enum { PARTS = SORT_BLOCK / W };

/* One step of the bitonic network over 128 keys in 8 registers. */
INLINE void network_step(__m512i key[PARTS], int run, int reach) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    if (reach >= W) {
#pragma GCC unroll 8
        for (int p = 0; p < PARTS; p++) {
            const int other = p ^ reach / W;
            if (other < p) continue;
            const __m512i low = _mm512_min_epu32(key[p], key[other]), high = _mm512_max_epu32(key[p], key[other]);
            const int is_ascending = !(p * W & run);
            key[p] = is_ascending ? low : high;
            key[other] = is_ascending ? high : low;
        }
        return;
    }
    const __m512i partner = _mm512_xor_si512(lane, _mm512_set1_epi32(reach));
    const __mmask16 is_upper = _mm512_test_epi32_mask(lane, _mm512_set1_epi32(reach));
#pragma GCC unroll 8
    for (int p = 0; p < PARTS; p++) {
        const __m512i index = _mm512_add_epi32(lane, _mm512_set1_epi32(p * W));
        const __mmask16 takes_greater = is_upper ^ _mm512_test_epi32_mask(index, _mm512_set1_epi32(run));
        const __m512i other = _mm512_permutexvar_epi32(partner, key[p]);
        key[p] = _mm512_mask_max_epu32(_mm512_min_epu32(key[p], other), takes_greater, key[p], other);
    }
}

void bitonic_sort(uint32_t *keys, int64_t count) {
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < count; start += SORT_BLOCK) {
        __m512i key[PARTS];
#pragma GCC unroll 8
        for (int p = 0; p < PARTS; p++) {
            const __mmask16 here = lanes_left(count - start - p * W);
            key[p] = _mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), here, keys + start + p * W);
        }
#pragma GCC unroll 7
        for (int run = 2; run <= SORT_BLOCK; run *= 2)
#pragma GCC unroll 7
            for (int reach = run / 2; reach > 0; reach /= 2) network_step(key, run, reach);
#pragma GCC unroll 8
        for (int p = 0; p < PARTS; p++)
            _mm512_mask_storeu_epi32(keys + start + p * W, lanes_left(count - start - p * W), key[p]);
    }
}

/* Particles: what is plain is fast already, as the structures do not fit lanes; only the branches are gone. */
void particles(const World *world, Particle *particles, int64_t count) {
    enum { SWIRLING = 1, SPARK = 2 };
    const World w = *world;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        Particle p = particles[i];
        const int is_spark = p.kind == SPARK, is_swirling = p.kind == SWIRLING;
        const int is_dead = (p.kind > SPARK) | (is_spark & (p.age >= w.lifetime));
        const float x = p.velocity[0], y = p.velocity[1];
        const float pulls = is_spark ? w.time_step : 0;
        float v[2] = {(is_swirling ? w.swirl[0][0] * x + w.swirl[1][0] * y : x) + pulls * w.gravity[0],
                      (is_swirling ? w.swirl[0][1] * x + w.swirl[1][1] * y : y) + pulls * w.gravity[1]};
        for (int axis = 0; axis < 2; axis++) {
            const float at = p.position[axis] + w.time_step * v[axis], outside = fabsf(at) - w.half_size[axis];
            const int bounces = outside > 0;
            p.position[axis] = bounces ? at - copysignf(2 * outside, at) : at;
            p.velocity[axis] = bounces ? -w.restitution * v[axis] : v[axis];
            p.bounces += bounces;
        }
        p.age += w.time_step;
        __m256i bytes;
        memcpy(&bytes, &p, sizeof bytes);
        _mm256_storeu_si256((__m256i *)(particles + i), is_dead ? _mm256_setzero_si256() : bytes);
    }
}
