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
                Floats sum[GROUP];
#pragma GCC unroll 8
                for (int g = 0; g < GROUP; g++) sum[g] = floats(0);
                for (int i = 0; i < TAPS; i++) {
                    const Floats weight = floats(weights[i]);
#pragma GCC unroll 8
                    for (int g = 0; g < GROUP; g++) sum[g] += weight * load(padded + x + g * W + i);
                }
#pragma GCC unroll 8
                for (int g = 0; g < GROUP; g++) {
                    const int64_t at = x + g * W;
                    store_left(result + y * width + at, width - at, sum[g]);
                }
            }
        }
        _mm_free(padded);
    }
}

/* Four rows of two vectors at a time, so that a row that is loaded serves up to four. */
INLINE void four_sums(const float *const *rows, int64_t x, const float *weights, int64_t left, Floats sum[4][2]) {
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) sum[r][0] = sum[r][1] = floats(0);
#pragma GCC unroll 20
    for (int i = 0; i < 4 + TAPS - 1; i++) {
        const Floats first = load_left(rows[i] + x, left), second = load_left(rows[i] + x + W, left - W);
#pragma GCC unroll 4
        for (int r = 0; r < 4; r++) {
            if (i < r || i - r >= TAPS) continue;
            const Floats weight = floats(weights[i - r]);
            sum[r][0] += weight * first;
            sum[r][1] += weight * second;
        }
    }
}

void convolve_columns(const int32_t *size, const float *weights, const float *source, float *result) {
    enum { ROWS = 4, R = CONVOLVE_RADIUS };
    const int64_t width = size[0], height = size[1];
#pragma omp parallel for schedule(static)
    for (int64_t top = 0; top < height; top += ROWS) {
        const float *rows[ROWS + TAPS - 1];
        for (int i = 0; i < ROWS + TAPS - 1; i++) rows[i] = source + min64(max64(top + i - R, 0), height - 1) * width;
        for (int64_t x = 0; x < width; x += 2 * W) {
            Floats sum[ROWS][2];
            /* The compiler drops the tests of ends for a number that it knows. */
            if (x + 2 * W <= width) four_sums(rows, x, weights, 2 * W, sum);
            else four_sums(rows, x, weights, width - x, sum);
#pragma GCC unroll 4
            for (int r = 0; r < ROWS; r++) {
                if (top + r >= height) continue;
                store_left(result + (top + r) * width + x, width - x, sum[r][0]);
                store_left(result + (top + r) * width + x + W, width - x - W, sum[r][1]);
            }
        }
    }
}

/* Two vectors of a row at a time. The weight by distance is a factor, one of 49 that are computed once. */
void bilateral(const Filter *params, const float *image, float *filtered) {
    enum { R = BILATERAL_RADIUS, SIDE = 2 * R + 1, PARTS = 2 };
    const int64_t width = params->size[0], height = params->size[1], stride = width + 2 * R + PARTS * W;
    const Floats likeness = floats(-params->likeness);
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
                Floats centre[PARTS], weights[PARTS], sum[PARTS];
#pragma GCC unroll 2
                for (int p = 0; p < PARTS; p++) {
                    centre[p] = load(padded + y * stride + x + R + p * W);
                    weights[p] = sum[p] = floats(0);
                }
                for (int dy = -R; dy <= R; dy++) {
                    const float *row = padded + min64(max64(y + dy, 0), height - 1) * stride + x;
#pragma GCC unroll 7
                    for (int i = 0; i < SIDE; i++) {
                        const Floats near = floats(nearness[dy + R][i]);
#pragma GCC unroll 2
                        for (int p = 0; p < PARTS; p++) {
                            const Floats value = load(row + i + p * W), difference = value - centre[p];
                            const Floats weight = near * exp_lanes(difference * difference * likeness);
                            weights[p] += weight;
                            sum[p] += weight * value;
                        }
                    }
                }
#pragma GCC unroll 2
                for (int p = 0; p < PARTS; p++)
                    store_left(filtered + y * width + x + p * W, width - x - p * W, sum[p] / weights[p]);
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

INLINE Ints divided(Ints n, Divisor by) {
    const __m256i factor = _mm256_set1_epi32((int)by.factor), even = _mm256_mul_epu32((__m256i)n, factor);
    const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64((__m256i)n, 32), factor);
    const __m256i both = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
    return (Ints)_mm256_srl_epi32(both, _mm_cvtsi32_si128((int)by.shift));
}

/* The places of the column `u` and those after it, without those outside of the picture. */
INLINE Ints places_at(const uint32_t *row, int64_t u, int64_t width) {
    if (u >= 0 && u + W <= width) return load_ints(row + u);
    const Ints column = lane_numbers() + (int)u, inside = (column >= 0) & (column < (int)width);
    const Ints place = (Ints)_mm256_maskload_epi32((const int *)row + u, (__m256i)inside);
    return chosen_ints(ints(NO_SEED), inside, place);
}

INLINE void flood_pixels(const Flood *flood, const uint32_t *places, int32_t *nearest, int64_t y, int64_t x) {
    const int64_t width = flood->size[0], height = flood->size[1], reach = flood->reach;
    const Ints here = (lane_numbers() + (int)x) | (int)(y << 16);
    Ints least = ints(INT32_MAX), best = ints(NO_SEED);
    for (int64_t v = y - reach; v <= y + reach; v += reach) {
        if (v < 0 || v >= height) continue;
        for (int64_t u = x - reach; u <= x + reach; u += reach) {
            const Ints place = places_at(places + v * width, u, width);
            const __m256i way = _mm256_sub_epi16((__m256i)place, (__m256i)here);
            const Ints none = place == NO_SEED, distance = (Ints)_mm256_madd_epi16(way, way);
            const Ints nearer = (least > distance) & ~none;
            least = chosen_ints(least, nearer, distance);
            best = chosen_ints(best, nearer, place);
        }
    }
    const Ints seed = (best >> 16) * (int)width + (best & 0xffff);
    store_ints_left(nearest + y * width + x, width - x, seed | (best == NO_SEED));
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
            const Ints seed = load_ints_left(seeds + i, pixels - i), y = divided(seed, by);
            const Ints place = (seed - y * (int)width) | y << 16;
            store_ints_left(places + i, pixels - i, chosen_ints(place, seed < 0, ints(NO_SEED)));
        }
#pragma omp for schedule(static)
        for (int64_t y = 0; y < height; y++)
            for (int64_t x = 0; x < width; x += W) flood_pixels(flood, places, nearest, y, x);
    }
    _mm_free(places);
}
