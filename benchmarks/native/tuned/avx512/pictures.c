/* Pictures; see lanes.h. */
#include "lanes.h"

/* A row with its ends repeated on both sides. */
INLINE void copy_row(const float *row, int64_t width, int64_t margin, float *padded) {
    memcpy(padded + margin, row, width * sizeof *row);
    for (int64_t i = 0; i < margin; i++) padded[i] = row[0], padded[margin + width + i] = row[width - 1];
}

/* Eight vectors of a row at a time: one load for each product. */
void convolve_rows(const int32_t *size, const float *weights, const float *source, float *result) {
    enum { GROUP = 8, R = CONVOLVE_RADIUS };
    const int64_t width = size[0], height = size[1];
#pragma omp parallel
    {
        float *padded = _mm_malloc((width + 2 * R + GROUP * W) * sizeof *padded, 64);
#pragma omp for schedule(static)
        for (int64_t y = 0; y < height; y++) {
            copy_row(source + y * width, width, R, padded);
            for (int64_t x = 0; x < width; x += GROUP * W) {
                __m512 sum[GROUP];
#pragma GCC unroll 8
                for (int g = 0; g < GROUP; g++) sum[g] = _mm512_setzero_ps();
                for (int i = 0; i < TAPS; i++) {
                    const __m512 weight = _mm512_set1_ps(weights[i]);
#pragma GCC unroll 8
                    for (int g = 0; g < GROUP; g++)
                        sum[g] = _mm512_fmadd_ps(weight, _mm512_loadu_ps(padded + x + g * W + i), sum[g]);
                }
#pragma GCC unroll 8
                for (int g = 0; g < GROUP; g++)
                    _mm512_mask_storeu_ps(result + y * width + x + g * W, lanes_left(width - x - g * W), sum[g]);
            }
        }
        _mm_free(padded);
    }
}

/* Eight rows of two vectors at a time, so that a row that is loaded serves up to eight. */
void convolve_columns(const int32_t *size, const float *weights, const float *source, float *result) {
    enum { ROWS = 8, PARTS = 2, R = CONVOLVE_RADIUS };
    const int64_t width = size[0], height = size[1];
    float factors[2 * ROWS + TAPS] = {0};
    memcpy(factors + ROWS, weights, TAPS * sizeof *weights);
#pragma omp parallel for schedule(static)
    for (int64_t top = 0; top < height; top += ROWS) {
        for (int64_t x = 0; x < width; x += PARTS * W) {
            __m512 sum[ROWS][PARTS];
#pragma GCC unroll 8
            for (int r = 0; r < ROWS; r++) sum[r][0] = sum[r][1] = _mm512_setzero_ps();
            for (int i = -R; i < ROWS + R; i++) {
                const float *row = source + min64(max64(top + i, 0), height - 1) * width + x;
                const __m512 first = _mm512_maskz_loadu_ps(lanes_left(width - x), row);
                const __m512 second = _mm512_maskz_loadu_ps(lanes_left(width - x - W), row + W);
#pragma GCC unroll 8
                for (int r = 0; r < ROWS; r++) {
                    /* Zero where the row is beyond the reach of row r. */
                    const __m512 weight = _mm512_set1_ps(factors[ROWS + i + R - r]);
                    sum[r][0] = _mm512_fmadd_ps(weight, first, sum[r][0]);
                    sum[r][1] = _mm512_fmadd_ps(weight, second, sum[r][1]);
                }
            }
#pragma GCC unroll 8
            for (int r = 0; r < ROWS; r++)
                if (top + r < height)
#pragma GCC unroll 2
                    for (int p = 0; p < PARTS; p++)
                        _mm512_mask_storeu_ps(result + (top + r) * width + x + p * W, lanes_left(width - x - p * W),
                                              sum[r][p]);
        }
    }
}

/* Two vectors of a row at a time. The weight by distance is a factor, one of 49 that are computed once. */
void bilateral(const Filter *params, const float *image, float *filtered) {
    enum { R = BILATERAL_RADIUS, SIDE = 2 * R + 1, PARTS = 2 };
    const int64_t width = params->size[0], height = params->size[1], stride = width + 2 * R + PARTS * W;
    const __m512 likeness = _mm512_set1_ps(-params->likeness);
    float nearness[SIDE][SIDE];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            nearness[y][x] = expf(-params->nearness * ((x - R) * (x - R) + (y - R) * (y - R)));
    float *padded = _mm_malloc(height * stride * sizeof *padded, 64);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t y = 0; y < height; y++) copy_row(image + y * width, width, R, padded + y * stride);
#pragma omp for schedule(static)
        for (int64_t y = 0; y < height; y++) {
            for (int64_t x = 0; x < width; x += PARTS * W) {
                __m512 centre[PARTS], weights[PARTS], sum[PARTS];
#pragma GCC unroll 2
                for (int p = 0; p < PARTS; p++) {
                    centre[p] = _mm512_loadu_ps(padded + y * stride + x + R + p * W);
                    weights[p] = sum[p] = _mm512_setzero_ps();
                }
                for (int dy = -R; dy <= R; dy++) {
                    const float *row = padded + min64(max64(y + dy, 0), height - 1) * stride + x;
#pragma GCC unroll 7
                    for (int i = 0; i < SIDE; i++) {
                        const __m512 near = _mm512_set1_ps(nearness[dy + R][i]);
#pragma GCC unroll 2
                        for (int p = 0; p < PARTS; p++) {
                            const __m512 value = _mm512_loadu_ps(row + i + p * W);
                            const __m512 difference = _mm512_sub_ps(value, centre[p]);
                            const __m512 squared = _mm512_mul_ps(difference, difference);
                            const __m512 alike = exp_lanes(_mm512_mul_ps(squared, likeness));
                            weights[p] = _mm512_fmadd_ps(near, alike, weights[p]);
                            sum[p] = _mm512_fmadd_ps(_mm512_mul_ps(near, alike), value, sum[p]);
                        }
                    }
                }
#pragma GCC unroll 2
                for (int p = 0; p < PARTS; p++)
                    _mm512_mask_storeu_ps(filtered + y * width + x + p * W, lanes_left(width - x - p * W),
                                          _mm512_div_ps(sum[p], weights[p]));
            }
        }
    }
    _mm_free(padded);
}

/* Seeds as coordinates, x in the lower half of a word and y in the upper; none is far away. One pass makes them, for
   nine to read: the sum of both squares is one multiplication then. Coordinates beyond 2^14 take the plain way. */

enum { FAR = 0x4000, NO_SEED = (int)((uint32_t)FAR << 16 | FAR) };

/* n / divisor for n below 2^31: multiplied by 2^(32 + shift) / divisor, rounded up, which 32 bits hold. */
typedef struct { uint32_t factor, shift; } Divisor;

static Divisor divisor_of(uint32_t divisor) {
    const uint32_t shift = divisor > 1 ? 31 - (uint32_t)__builtin_clz(divisor - 1) : 0;
    return (Divisor){(uint32_t)((((uint64_t)1 << (32 + shift)) + divisor - 1) / divisor), shift};
}

INLINE __m512i divided(__m512i n, Divisor by) {
    const __m512i factor = _mm512_set1_epi32((int)by.factor);
    const __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(n, factor), 32);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(n, 32), factor);
    return _mm512_srl_epi32(_mm512_mask_mov_epi32(even, 0xaaaa, odd), _mm_cvtsi32_si128((int)by.shift));
}

INLINE void flood_pixels(const Flood *flood, const uint32_t *places, int32_t *nearest, int64_t y, int64_t x) {
    const int64_t width = flood->size[0], height = flood->size[1], reach = flood->reach, left = width - x;
    const __m512i across = _mm512_add_epi32(lane_numbers(), _mm512_set1_epi32((int)x));
    const __m512i here = _mm512_or_si512(across, _mm512_set1_epi32((int)(y << 16)));
    __m512i least = _mm512_set1_epi32(INT32_MAX), best = _mm512_set1_epi32(NO_SEED);
    for (int64_t v = y - reach; v <= y + reach; v += reach) {
        if (v < 0 || v >= height) continue;
        for (int64_t u = x - reach; u <= x + reach; u += reach) {
            /* Lanes whose column is outside of the picture: those below -u, and those from width - u on. */
            const __mmask16 inside = lanes_left(left) & lanes_left(width - u) & ~(u < 0 ? lanes_left(-u) : 0);
            if (!inside) continue;
            const __m512i place = _mm512_mask_loadu_epi32(_mm512_set1_epi32(NO_SEED), inside, places + v * width + u);
            const __m512i way = _mm512_sub_epi16(place, here), distance = _mm512_madd_epi16(way, way);
            const __mmask16 has_seed = _mm512_cmpneq_epi32_mask(place, _mm512_set1_epi32(NO_SEED));
            const __mmask16 nearer = _mm512_mask_cmplt_epi32_mask(has_seed, distance, least);
            least = _mm512_mask_mov_epi32(least, nearer, distance);
            best = _mm512_mask_mov_epi32(best, nearer, place);
        }
    }
    const __m512i row = _mm512_mullo_epi32(_mm512_srli_epi32(best, 16), _mm512_set1_epi32((int)width));
    const __m512i seed = _mm512_add_epi32(row, _mm512_and_si512(best, _mm512_set1_epi32(0xffff)));
    const __mmask16 has_none = _mm512_cmpeq_epi32_mask(best, _mm512_set1_epi32(NO_SEED));
    _mm512_mask_storeu_epi32(nearest + y * width + x, lanes_left(left), _mm512_mask_set1_epi32(seed, has_none, -1));
}

/* See ../any.c. */
void flood_large(const Flood *flood, const int32_t *seeds, int32_t *nearest);

void jump_flood(const Flood *flood, const int32_t *seeds, int32_t *nearest) {
    const int64_t width = flood->size[0], height = flood->size[1], pixels = width * height;
    if (width >= FAR || height >= FAR || flood->reach <= 0) {
        flood_large(flood, seeds, nearest);
        return;
    }
    const Divisor by = divisor_of((uint32_t)width);
    uint32_t *places = _mm_malloc(pixels * sizeof *places, 64);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < pixels; i += W) {
            const __m512i seed = _mm512_maskz_loadu_epi32(lanes_left(pixels - i), seeds + i), y = divided(seed, by);
            const __m512i x = _mm512_sub_epi32(seed, _mm512_mullo_epi32(y, _mm512_set1_epi32((int)width)));
            const __m512i place = _mm512_or_si512(x, _mm512_slli_epi32(y, 16));
            const __mmask16 has_seed = _mm512_cmpge_epi32_mask(seed, _mm512_setzero_si512());
            _mm512_mask_storeu_epi32(places + i, lanes_left(pixels - i),
                                     _mm512_mask_mov_epi32(_mm512_set1_epi32(NO_SEED), has_seed, place));
        }
#pragma omp for schedule(static)
        for (int64_t y = 0; y < height; y++)
            for (int64_t x = 0; x < width; x += W) flood_pixels(flood, places, nearest, y, x);
    }
    _mm_free(places);
}
