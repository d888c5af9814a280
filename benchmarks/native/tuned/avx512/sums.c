/* Sums, scans and counts; see lanes.h. */
#include "lanes.h"

#include <sched.h>

INLINE void block_sums_of(const float *values, float *block_sums, int64_t count, int64_t blocks, int64_t length) {
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t start = block * length, end = min64(start + length, count);
        __m512 sum[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
        if (end - start == length) {
            for (int64_t i = start; i < end; i += 4 * W)
#pragma GCC unroll 4
                for (int g = 0; g < 4; g++) sum[g] = _mm512_add_ps(sum[g], _mm512_loadu_ps(values + i + g * W));
        } else {
            for (int64_t i = start; i < end; i += W)
                sum[0] = _mm512_add_ps(sum[0], _mm512_maskz_loadu_ps(lanes_left(end - i), values + i));
        }
        const __m512 all = _mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3]));
        block_sums[block] = _mm512_reduce_add_ps(all);
    }
}

void reduce(const float *values, float *partial_sums, int64_t count, int64_t blocks) {
    block_sums_of(values, partial_sums, count, blocks, REDUCE_BLOCK);
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

static void scan_blocks(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t blocks,
                        int64_t length, int is_exclusive) {
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t start = block * length;
        scan_block(values + start, sums + start, block_sums + block, min64(length, count - start), is_exclusive);
    }
}

void scan_hillis_steele(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                        int64_t blocks) {
    (void)sum_count;
    scan_blocks(values, sums, block_sums, count, blocks, HILLIS_STEELE_BLOCK, 0);
}

void scan_blelloch(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                   int64_t blocks) {
    (void)sum_count;
    scan_blocks(values, sums, block_sums, count, blocks, BLELLOCH_BLOCK, 1);
}

/* One addition to the shared counter for every 4096 values; each thread gathers its finds first. */
void compact(const float *threshold, const float *values, uint32_t *count, Kept *kept, int64_t value_count,
             int64_t kept_count) {
    enum { CHUNK = 4096 };
    const __m512 least = _mm512_set1_ps(*threshold);
    const __m512i lane = lane_numbers();
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

void reduce_halving(const float *values, float *block_sums, int64_t count, int64_t blocks) {
    block_sums_of(values, block_sums, count, blocks, HALVING_BLOCK);
}

void reduce_interleaved(const uint32_t *values, uint32_t *block_sums, int64_t count, int64_t blocks) {
    enum { BLOCK = INTERLEAVED_BLOCK };
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t start = block * BLOCK, left = count - start;
        __m512i sum[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
        if (left >= BLOCK) {
#pragma GCC unroll 16
            for (int i = 0; i < BLOCK / W; i++)
                sum[i % 2] = _mm512_add_epi32(sum[i % 2], _mm512_loadu_si512(values + start + i * W));
        } else {
            for (int64_t i = 0; i < left; i += W)
                sum[0] = _mm512_add_epi32(sum[0], _mm512_maskz_loadu_epi32(lanes_left(left - i), values + start + i));
        }
        block_sums[block] = (uint32_t)_mm512_reduce_add_epi32(_mm512_add_epi32(sum[0], sum[1]));
    }
}

/* A block stays in eight registers; places past the end repeat its first number. */
void reduce_ring(const float *values, float *extremes, float *scaled, int64_t count, int64_t blocks) {
    enum { PARTS = RING / W };
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t start = block * RING, left = count - start;
        __m512 v[PARTS], least = _mm512_set1_ps(values[start]), greatest = least;
#pragma GCC unroll 8
        for (int p = 0; p < PARTS; p++) {
            v[p] = _mm512_mask_loadu_ps(_mm512_set1_ps(values[start]), lanes_left(left - p * W), values + start + p * W);
            least = _mm512_min_ps(least, v[p]);
            greatest = _mm512_max_ps(greatest, v[p]);
        }
        const float low = _mm512_reduce_min_ps(least), high = _mm512_reduce_max_ps(greatest);
        const __m512 from = _mm512_set1_ps(low), factor = _mm512_set1_ps(low == high ? 0 : 1 / (high - low));
        extremes[2 * block] = low;
        extremes[2 * block + 1] = high;
#pragma GCC unroll 8
        for (int p = 0; p < PARTS; p++)
            _mm512_mask_storeu_ps(scaled + start + p * W, lanes_left(left - p * W),
                                  _mm512_mul_ps(_mm512_sub_ps(v[p], from), factor));
    }
}

/* The sum of the products of at most 256 elements in each lane. */
INLINE __m512 block_product(const float *x, const float *y, int64_t length) {
    __m512 sum[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
    if (length >= STRIDED_BLOCK) {
#pragma GCC unroll 16
        for (int i = 0; i < STRIDED_BLOCK / W; i++)
            sum[i % 4] = _mm512_fmadd_ps(_mm512_loadu_ps(x + i * W), _mm512_loadu_ps(y + i * W), sum[i % 4]);
    } else {
        for (int64_t i = 0; i < length; i += W) {
            const __mmask16 here = lanes_left(length - i);
            sum[0] = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(here, x + i), _mm512_maskz_loadu_ps(here, y + i), sum[0]);
        }
    }
    return _mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3]));
}

/* The vectors are read in order; each thread has a vector of sums for each group, which stay in the second cache. */
void reduce_strided(const float *x, const float *y, float *partial_products, int64_t count, int64_t y_count,
                    int64_t groups) {
    const int64_t blocks = (count + STRIDED_BLOCK - 1) / STRIDED_BLOCK;
    (void)y_count;
    memset(partial_products, 0, groups * sizeof *partial_products);
#pragma omp parallel
    {
        __m512 *sums = _mm_malloc(groups * sizeof *sums, 64);
        memset(sums, 0, groups * sizeof *sums);
#pragma omp for schedule(static) nowait
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t start = block * STRIDED_BLOCK;
            __m512 *sum = sums + block % groups;
            *sum = _mm512_add_ps(*sum, block_product(x + start, y + start, count - start));
        }
#pragma omp critical
        for (int64_t group = 0; group < groups; group++) partial_products[group] += _mm512_reduce_add_ps(sums[group]);
        _mm_free(sums);
    }
}

INLINE __m128i bins_of(__m512 samples) {
    const __m512 scaled = _mm512_mul_ps(samples, _mm512_set1_ps(BLOCKED_BINS));
    const __m512 inside = _mm512_min_ps(_mm512_max_ps(scaled, _mm512_setzero_ps()), _mm512_set1_ps(BLOCKED_BINS - 1));
    return _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(inside));
}

/* Bins are computed for 64 samples at a time, as bytes; eight tables count them. */
void histogram_blocked(const float *samples, uint32_t *histogram, int64_t count) {
    enum { PART = 64, TABLES = 8 };
#pragma omp parallel
    {
        uint32_t mine[TABLES][BLOCKED_BINS] = {{0}};
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < count / PART; i++) {
            __m128i bins[PART / W];
            uint64_t words[PART / TABLES];
#pragma GCC unroll 4
            for (int p = 0; p < PART / W; p++) bins[p] = bins_of(_mm512_loadu_ps(samples + i * PART + p * W));
            memcpy(words, bins, sizeof words);
#pragma GCC unroll 8
            for (int w = 0; w < PART / TABLES; w++)
#pragma GCC unroll 8
                for (int t = 0; t < TABLES; t++) mine[t][words[w] >> 8 * t & 0xff]++;
        }
#pragma omp critical
        for (int bin = 0; bin < BLOCKED_BINS; bin++)
            for (int t = 0; t < TABLES; t++) histogram[bin] += mine[t][bin];
    }
    for (int64_t i = count / PART * PART; i < count; i++)
        histogram[(uint32_t)clampf(samples[i] * BLOCKED_BINS, 0, BLOCKED_BINS - 1)]++;
}

void scan_kogge_stone(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                      int64_t blocks) {
    (void)sum_count;
    scan_blocks(values, sums, block_sums, count, blocks, KOGGE_STONE_BLOCK, 0);
}

void scan_raking(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                 int64_t blocks) {
    (void)sum_count;
    scan_blocks(values, sums, block_sums, count, blocks, RAKING_BLOCK, 0);
}

void scan_sklansky(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                   int64_t blocks) {
    (void)sum_count;
    scan_blocks(values, sums, block_sums, count, blocks, SKLANSKY_BLOCK, 0);
}

void scan_blelloch_pairs(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                         int64_t blocks) {
    (void)sum_count;
    scan_blocks(values, sums, block_sums, count, blocks, PAIRS_BLOCK, 1);
}

INLINE uint32_t sum_of(const uint32_t *values, int64_t length) {
    __m512i sum[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
    int64_t i = 0;
    for (; i + 4 * W <= length; i += 4 * W)
#pragma GCC unroll 4
        for (int g = 0; g < 4; g++) sum[g] = _mm512_add_epi32(sum[g], _mm512_loadu_si512(values + i + g * W));
    for (; i < length; i += W)
        sum[0] = _mm512_add_epi32(sum[0], _mm512_maskz_loadu_epi32(lanes_left(length - i), values + i));
    return (uint32_t)_mm512_reduce_add_epi32(
        _mm512_add_epi32(_mm512_add_epi32(sum[0], sum[1]), _mm512_add_epi32(sum[2], sum[3])));
}

INLINE void scan_on(const uint32_t *values, uint32_t *sums, int64_t length, uint32_t before) {
    const __m512i last = _mm512_set1_epi32(15), bits = _mm512_set1_epi32(0x3fffffff);
    __m512i base = _mm512_set1_epi32((int)before);
    for (int64_t i = 0; i < length; i += W) {
        const __mmask16 here = lanes_left(length - i);
        const __m512i own = inclusive_sums(_mm512_maskz_loadu_epi32(here, values + i));
        _mm512_mask_storeu_epi32(sums + i, here, _mm512_and_si512(bits, _mm512_add_epi32(own, base)));
        base = _mm512_add_epi32(base, _mm512_permutexvar_epi32(last, own));
    }
}

/* Chunks are taken in order. A thread sums its chunk, waits for the sum before it, hands on the sum after it, and scans
   what is still in the cache. */
void scan_lookback(const uint32_t *values, uint32_t *sums, uint32_t *begun, uint32_t *states, int64_t count) {
    enum { CHUNK = 8192 };
    int64_t next = 0, done = 0;
    uint32_t sum_before = 0;
    (void)begun, (void)states;
#pragma omp parallel
    for (;;) {
        const int64_t chunk = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED), start = chunk * CHUNK;
        if (start >= count) break;
        const int64_t length = min64(CHUNK, count - start);
        const uint32_t own = sum_of(values + start, length);
        for (int looks = 0; __atomic_load_n(&done, __ATOMIC_ACQUIRE) != chunk; looks++)
            if (looks % 64 == 63) sched_yield();
            else _mm_pause();
        const uint32_t before = sum_before;
        sum_before += own;
        __atomic_store_n(&done, chunk + 1, __ATOMIC_RELEASE);
        scan_on(values + start, sums + start, length, before);
    }
}

void compact_scan(const float *threshold, const float *values, uint32_t *count, Kept *kept, int64_t value_count,
                  int64_t kept_count) {
    compact(threshold, values, count, kept, value_count, kept_count);
}

void compact_ballot(const Depths *depths, const float *depth, uint32_t *visible, uint32_t *counts, int64_t count,
                    int64_t visible_count, int64_t blocks) {
    (void)visible_count;
    const __m512 nearest = _mm512_set1_ps(depths->nearest), farthest = _mm512_set1_ps(depths->farthest);
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t start = block * BALLOT_BLOCK;
        uint32_t found = 0;
        for (int64_t i = start; i < min64(start + BALLOT_BLOCK, count); i += W) {
            const __mmask16 here = lanes_left(count - i);
            const __m512 v = _mm512_maskz_loadu_ps(here, depth + i);
            const __mmask16 above = _mm512_mask_cmp_ps_mask(here, v, nearest, _CMP_GT_OQ);
            const __mmask16 kept = _mm512_mask_cmp_ps_mask(above, v, farthest, _CMP_LT_OQ);
            const __m512i index = _mm512_add_epi32(lane_numbers(), _mm512_set1_epi32((int)i));
            const uint32_t more = (uint32_t)__builtin_popcount(kept);
            _mm512_mask_storeu_epi32(visible + start + found, (__mmask16)((1u << more) - 1),
                                     _mm512_maskz_compress_epi32(kept, index));
            found += more;
        }
        counts[block] = found;
    }
}
