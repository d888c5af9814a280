/* Sums, scans and counts; see lanes.h. */
#include "lanes.h"

#include <sched.h>

INLINE void block_sums_of(const float *values, float *block_sums, int64_t count, int64_t blocks, int64_t length) {
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t start = block * length, end = min64(start + length, count);
        Floats sum[4] = {floats(0), floats(0), floats(0), floats(0)};
        if (end - start == length) {
            for (int64_t i = start; i < end; i += 4 * W)
#pragma GCC unroll 4
                for (int g = 0; g < 4; g++) sum[g] += load(values + i + g * W);
        } else {
            for (int64_t i = start; i < end; i += W) sum[0] += load_left(values + i, end - i);
        }
        block_sums[block] = sum_of_lanes((sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
}

void reduce(const float *values, float *partial_sums, int64_t count, int64_t blocks) {
    block_sums_of(values, partial_sums, count, blocks, REDUCE_BLOCK);
}

void reduce_halving(const float *values, float *block_sums, int64_t count, int64_t blocks) {
    block_sums_of(values, block_sums, count, blocks, HALVING_BLOCK);
}

INLINE uint32_t sum_of(const uint32_t *values, int64_t length) {
    Ints sum[4] = {ints(0), ints(0), ints(0), ints(0)};
    int64_t i = 0;
    for (; i + 4 * W <= length; i += 4 * W)
#pragma GCC unroll 4
        for (int g = 0; g < 4; g++) sum[g] += load_ints(values + i + g * W);
    for (; i < length; i += W) sum[0] += load_ints_left(values + i, length - i);
    return sum_of_ints((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

void reduce_interleaved(const uint32_t *values, uint32_t *block_sums, int64_t count, int64_t blocks) {
    enum { BLOCK = INTERLEAVED_BLOCK };
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++)
        block_sums[block] = sum_of(values + block * BLOCK, min64(BLOCK, count - block * BLOCK));
}

/* Adds to each lane those below it. */
INLINE Ints inclusive_sums(Ints v) {
    v += (Ints)_mm256_slli_si256((__m256i)v, 4);
    v += (Ints)_mm256_slli_si256((__m256i)v, 8);
    const __m256i low_half = _mm256_permute2x128_si256((__m256i)v, (__m256i)v, 0x08);
    return v + (Ints)_mm256_shuffle_epi32(low_half, 0xff);
}

INLINE Ints last_lane(Ints v) { return (Ints)_mm256_permutevar8x32_epi32((__m256i)v, _mm256_set1_epi32(W - 1)); }

INLINE void scan_block(const uint32_t *values, uint32_t *sums, uint32_t *block_sum, int64_t length, int is_exclusive) {
    Ints before = ints(0);
    for (int64_t i = 0; i < length; i += W) {
        const Ints v = load_ints_left(values + i, length - i), up_to = inclusive_sums(v);
        store_ints_left(sums + i, length - i, up_to - (v & -is_exclusive) + before);
        before += last_lane(up_to);
    }
    *block_sum = (uint32_t)before[0];
}

static void scan_blocks(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t blocks,
                        int64_t length, int is_exclusive) {
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t start = block * length;
        scan_block(values + start, sums + start, block_sums + block, min64(length, count - start), is_exclusive);
    }
}

#define SCAN(name, length, is_exclusive)                                                                               \
    void name(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,          \
              int64_t blocks) {                                                                                        \
        (void)sum_count;                                                                                               \
        scan_blocks(values, sums, block_sums, count, blocks, length, is_exclusive);                                    \
    }

SCAN(scan_hillis_steele, HILLIS_STEELE_BLOCK, 0)
SCAN(scan_kogge_stone, KOGGE_STONE_BLOCK, 0)
SCAN(scan_raking, RAKING_BLOCK, 0)
SCAN(scan_sklansky, SKLANSKY_BLOCK, 0)
SCAN(scan_blelloch, BLELLOCH_BLOCK, 1)
SCAN(scan_blelloch_pairs, PAIRS_BLOCK, 1)

INLINE void scan_on(const uint32_t *values, uint32_t *sums, int64_t length, uint32_t before) {
    Ints base = ints((int)before);
    for (int64_t i = 0; i < length; i += W) {
        const Ints own = inclusive_sums(load_ints_left(values + i, length - i));
        store_ints_left(sums + i, length - i, (own + base) & 0x3fffffff);
        base += last_lane(own);
    }
}

/* Chunks are taken in order. A thread sums its chunk, waits for the sum before it, hands on the sum after it, and scans
   what is still in the cache. */
void scan_lookback(const uint32_t *values, uint32_t *sums, uint32_t *begun, uint32_t *states, int64_t count) {
    enum { CHUNK = 4096 };
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

/* For each set of lanes, the lanes' numbers in order, as bytes. */
static uint64_t kept_lanes[1 << W];

__attribute__((constructor)) static void fill_kept_lanes(void) {
    for (int set = 0; set < 1 << W; set++)
        for (int lane = 0, place = 0; lane < W; lane++)
            if (set >> lane & 1) kept_lanes[set] |= (uint64_t)lane << 8 * place++;
}

/* One addition to the shared counter for every 4096 values; each thread gathers its finds first. */
void compact(const float *threshold, const float *values, uint32_t *count, Kept *kept, int64_t value_count,
             int64_t kept_count) {
    enum { CHUNK = 4096 };
    const Floats least = floats(*threshold);
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < value_count; start += CHUNK) {
        uint32_t indices[CHUNK + W];
        int64_t found = 0;
        for (int64_t i = start; i < min64(start + CHUNK, value_count); i += W) {
            const int64_t left = value_count - i;
            const int all = left >= W ? (1 << W) - 1 : (1 << left) - 1;
            const int set = any(below(least, load_left(values + i, left))) & all;
            const __m256i lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)kept_lanes[set]));
            store_ints(indices + found, (Ints)lanes + (int)i);
            found += __builtin_popcount(set);
        }
        const int64_t place = __atomic_fetch_add(count, (uint32_t)found, __ATOMIC_RELAXED);
        for (int64_t i = 0; i < min64(found, kept_count - place); i++)
            kept[place + i] = (Kept){indices[i], values[indices[i]]};
    }
}

void compact_scan(const float *threshold, const float *values, uint32_t *count, Kept *kept, int64_t value_count,
                  int64_t kept_count) {
    compact(threshold, values, count, kept, value_count, kept_count);
}

/* A block is read twice, the second time from the first cache. */
void reduce_ring(const float *values, float *extremes, float *scaled, int64_t count, int64_t blocks) {
    const Floats sign = floats(-0.0f);
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t start = block * RING, length = min64(RING, count - start), whole = length / W * W;
        Floats least = floats(values[start]), greatest = least;
        for (int64_t i = start; i < start + whole; i += W) {
            least = _mm256_min_ps(least, load(values + i));
            greatest = _mm256_max_ps(greatest, load(values + i));
        }
        for (int64_t i = start + whole; i < start + length; i++) {
            least = _mm256_min_ps(least, floats(values[i]));
            greatest = _mm256_max_ps(greatest, floats(values[i]));
        }
        const float low = -greatest_lane(_mm256_xor_ps(least, sign)), high = greatest_lane(greatest);
        const Floats from = floats(low), factor = floats(low == high ? 0 : 1 / (high - low));
        extremes[2 * block] = low;
        extremes[2 * block + 1] = high;
        for (int64_t i = 0; i < length; i += W)
            store_left(scaled + start + i, length - i, (load_left(values + start + i, length - i) - from) * factor);
    }
}

/* The sum of the products of at most 256 elements in each lane. */
INLINE Floats block_product(const float *x, const float *y, int64_t length) {
    Floats sum[4] = {floats(0), floats(0), floats(0), floats(0)};
    if (length >= STRIDED_BLOCK) {
        for (int i = 0; i < STRIDED_BLOCK; i += 4 * W)
#pragma GCC unroll 4
            for (int g = 0; g < 4; g++) sum[g] += load(x + i + g * W) * load(y + i + g * W);
    } else {
        for (int64_t i = 0; i < length; i += W) sum[0] += load_left(x + i, length - i) * load_left(y + i, length - i);
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The vectors are read in order; each thread has a vector of sums for each group, which stay in the second cache. */
void reduce_strided(const float *x, const float *y, float *partial_products, int64_t count, int64_t y_count,
                    int64_t groups) {
    const int64_t blocks = (count + STRIDED_BLOCK - 1) / STRIDED_BLOCK;
    (void)y_count;
    memset(partial_products, 0, groups * sizeof *partial_products);
#pragma omp parallel
    {
        Floats *sums = _mm_malloc(groups * sizeof *sums, 64);
        memset(sums, 0, groups * sizeof *sums);
#pragma omp for schedule(static) nowait
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t start = block * STRIDED_BLOCK;
            sums[block % groups] += block_product(x + start, y + start, count - start);
        }
#pragma omp critical
        for (int64_t group = 0; group < groups; group++) partial_products[group] += sum_of_lanes(sums[group]);
        _mm_free(sums);
    }
}

INLINE __m256i bins_of(Floats samples) {
    const Floats scaled = samples * floats(BLOCKED_BINS);
    return _mm256_cvttps_epi32(_mm256_min_ps(_mm256_max_ps(scaled, floats(0)), floats(BLOCKED_BINS - 1)));
}

/* Bins are computed for 32 samples at a time, as bytes in any order; eight tables count them. */
void histogram_blocked(const float *samples, uint32_t *histogram, int64_t count) {
    enum { PART = 4 * W, TABLES = 8 };
#pragma omp parallel
    {
        uint32_t mine[TABLES][BLOCKED_BINS] = {{0}};
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < count / PART; i++) {
            const float *from = samples + i * PART;
            const __m256i first = _mm256_packs_epi32(bins_of(load(from)), bins_of(load(from + W)));
            const __m256i second = _mm256_packs_epi32(bins_of(load(from + 2 * W)), bins_of(load(from + 3 * W)));
            const __m256i bins = _mm256_packus_epi16(first, second);
            uint64_t groups[PART / TABLES];
            memcpy(groups, &bins, sizeof groups);
#pragma GCC unroll 4
            for (int g = 0; g < PART / TABLES; g++)
#pragma GCC unroll 8
                for (int t = 0; t < TABLES; t++) mine[t][groups[g] >> 8 * t & 0xff]++;
        }
#pragma omp critical
        for (int bin = 0; bin < BLOCKED_BINS; bin++)
            for (int t = 0; t < TABLES; t++) histogram[bin] += mine[t][bin];
    }
    for (int64_t i = count / PART * PART; i < count; i++)
        histogram[(uint32_t)clampf(samples[i] * BLOCKED_BINS, 0, BLOCKED_BINS - 1)]++;
}

void compact_ballot(const Depths *depths, const float *depth, uint32_t *visible, uint32_t *counts, int64_t count,
                    int64_t visible_count, int64_t blocks) {
    (void)visible_count;
    const Floats nearest = floats(depths->nearest), farthest = floats(depths->farthest);
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t start = block * BALLOT_BLOCK;
        uint32_t indices[BALLOT_BLOCK + W];
        int64_t found = 0;
        for (int64_t i = start; i < min64(start + BALLOT_BLOCK, count); i += W) {
            const int64_t left = count - i;
            const int all = left >= W ? (1 << W) - 1 : (1 << left) - 1;
            const Floats v = load_left(depth + i, left);
            const int set = any(below(nearest, v)) & any(below(v, farthest)) & all;
            const __m256i lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)kept_lanes[set]));
            store_ints(indices + found, (Ints)lanes + (int)i);
            found += __builtin_popcount(set);
        }
        memcpy(visible + start, indices, found * sizeof *indices);
        counts[block] = (uint32_t)found;
    }
}
