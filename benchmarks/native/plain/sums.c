/* Sums, scans and counts, in plain loops as one first writes them. */
#include "../kernels.h"

#include <omp.h>

void reduce(const float *values, float *partial_sums, int64_t count, int64_t blocks) {
#pragma omp parallel for
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t end = min64((block + 1) * REDUCE_BLOCK, count);
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = block * REDUCE_BLOCK; i < end; i++) sum += values[i];
        partial_sums[block] = sum;
    }
}

static void count_bytes(const uint32_t *words, uint32_t *counts, int64_t count) {
#pragma omp parallel
    {
        uint32_t mine[BINS] = {0};
#pragma omp for nowait
        for (int64_t i = 0; i < count; i++)
            for (int shift = 0; shift < 32; shift += 8) mine[words[i] >> shift & 0xff]++;
#pragma omp critical
        for (int bin = 0; bin < BINS; bin++) counts[bin] += mine[bin];
    }
}

void histogram_global(const uint32_t *words, uint32_t *counts, int64_t count) { count_bytes(words, counts, count); }

void histogram_local(const uint32_t *words, uint32_t *counts, int64_t count) { count_bytes(words, counts, count); }

void scan_hillis_steele(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                        int64_t blocks) {
    (void)sum_count;
#pragma omp parallel for
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t end = min64((block + 1) * HILLIS_STEELE_BLOCK, count);
        uint32_t sum = 0;
        for (int64_t i = block * HILLIS_STEELE_BLOCK; i < end; i++) sums[i] = sum += values[i];
        block_sums[block] = sum;
    }
}

void scan_blelloch(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                   int64_t blocks) {
    (void)sum_count;
#pragma omp parallel for
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t end = min64((block + 1) * BLELLOCH_BLOCK, count);
        uint32_t sum = 0;
        for (int64_t i = block * BLELLOCH_BLOCK; i < end; i++) {
            const uint32_t value = values[i];
            sums[i] = sum;
            sum += value;
        }
        block_sums[block] = sum;
    }
}

void compact(const float *threshold, const float *values, uint32_t *count, Kept *kept, int64_t value_count,
             int64_t kept_count) {
    const float least = *threshold;
#pragma omp parallel for
    for (int64_t i = 0; i < value_count; i++) {
        if (values[i] <= least) continue;
        const uint32_t place = __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
        if (place < kept_count) kept[place] = (Kept){(uint32_t)i, values[i]};
    }
}

void reduce_halving(const float *values, float *block_sums, int64_t count, int64_t blocks) {
#pragma omp parallel for
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t end = min64((block + 1) * HALVING_BLOCK, count);
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = block * HALVING_BLOCK; i < end; i++) sum += values[i];
        block_sums[block] = sum;
    }
}

void reduce_interleaved(const uint32_t *values, uint32_t *block_sums, int64_t count, int64_t blocks) {
#pragma omp parallel for
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t end = min64((block + 1) * INTERLEAVED_BLOCK, count);
        uint32_t sum = 0;
        for (int64_t i = block * INTERLEAVED_BLOCK; i < end; i++) sum += values[i];
        block_sums[block] = sum;
    }
}

void reduce_ring(const float *values, float *extremes, float *scaled, int64_t count, int64_t blocks) {
#pragma omp parallel for
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t start = block * RING, end = min64(start + RING, count);
        float least = values[start], greatest = values[start];
        for (int64_t i = start; i < end; i++) {
            least = values[i] < least ? values[i] : least;
            greatest = values[i] > greatest ? values[i] : greatest;
        }
        extremes[2 * block] = least;
        extremes[2 * block + 1] = greatest;
        for (int64_t i = start; i < end; i++)
            scaled[i] = least == greatest ? 0 : (values[i] - least) / (greatest - least);
    }
}

void reduce_strided(const float *x, const float *y, float *partial_products, int64_t count, int64_t y_count,
                    int64_t groups) {
    (void)y_count;
#pragma omp parallel for
    for (int64_t group = 0; group < groups; group++) {
        float sum = 0;
        for (int64_t start = group * STRIDED_BLOCK; start < count; start += groups * STRIDED_BLOCK) {
            const int64_t end = min64(start + STRIDED_BLOCK, count);
#pragma omp simd reduction(+ : sum)
            for (int64_t i = start; i < end; i++) sum += x[i] * y[i];
        }
        partial_products[group] = sum;
    }
}

void histogram_coalesced(const uint32_t *keys, uint32_t *counts, int64_t count) {
#pragma omp parallel
    {
        uint32_t mine[BINS] = {0};
#pragma omp for nowait
        for (int64_t i = 0; i < count; i++) mine[keys[i] >> 24]++;
#pragma omp critical
        for (int bin = 0; bin < BINS; bin++) counts[bin] += mine[bin];
    }
}

void histogram_blocked(const float *samples, uint32_t *histogram, int64_t count) {
#pragma omp parallel
    {
        uint32_t mine[BLOCKED_BINS] = {0};
#pragma omp for nowait
        for (int64_t i = 0; i < count; i++)
            mine[(uint32_t)clampf(samples[i] * BLOCKED_BINS, 0, BLOCKED_BINS - 1)]++;
#pragma omp critical
        for (int bin = 0; bin < BLOCKED_BINS; bin++) histogram[bin] += mine[bin];
    }
}

void histogram_bytes(const uint32_t *length, const uint8_t *text, uint32_t *frequencies) {
    const int64_t count = *length;
#pragma omp parallel
    {
        uint32_t mine[BINS] = {0};
#pragma omp for nowait
        for (int64_t i = 0; i < count; i++) mine[text[i]]++;
#pragma omp critical
        for (int bin = 0; bin < BINS; bin++) frequencies[bin] += mine[bin];
    }
}

static void inclusive_blocks(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t blocks,
                             int64_t length) {
#pragma omp parallel for
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t end = min64((block + 1) * length, count);
        uint32_t sum = 0;
        for (int64_t i = block * length; i < end; i++) sums[i] = sum += values[i];
        block_sums[block] = sum;
    }
}

void scan_kogge_stone(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                      int64_t blocks) {
    (void)sum_count;
    inclusive_blocks(values, sums, block_sums, count, blocks, KOGGE_STONE_BLOCK);
}

void scan_raking(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                 int64_t blocks) {
    (void)sum_count;
    inclusive_blocks(values, sums, block_sums, count, blocks, RAKING_BLOCK);
}

void scan_sklansky(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                   int64_t blocks) {
    (void)sum_count;
    inclusive_blocks(values, sums, block_sums, count, blocks, SKLANSKY_BLOCK);
}

void scan_blelloch_pairs(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                         int64_t blocks) {
    (void)sum_count;
#pragma omp parallel for
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t end = min64((block + 1) * PAIRS_BLOCK, count);
        uint32_t sum = 0;
        for (int64_t i = block * PAIRS_BLOCK; i < end; i++) {
            sums[i] = sum;
            sum += values[i];
        }
        block_sums[block] = sum;
    }
}

/* Each thread sums its part, then starts its own sums at those of the parts before. */
void scan_lookback(const uint32_t *values, uint32_t *sums, uint32_t *begun, uint32_t *states, int64_t count) {
    enum { MOST_THREADS = 256 };
    uint32_t part_sums[MOST_THREADS + 1] = {0};
    (void)begun, (void)states;
#pragma omp parallel num_threads((int)min64(omp_get_max_threads(), MOST_THREADS))
    {
        const int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const int64_t start = count * thread / threads, end = count * (thread + 1) / threads;
        uint32_t sum = 0;
        for (int64_t i = start; i < end; i++) sum += values[i];
        part_sums[thread + 1] = sum;
#pragma omp barrier
        sum = 0;
        for (int64_t part = 0; part <= thread; part++) sum += part_sums[part];
        for (int64_t i = start; i < end; i++) sums[i] = (sum += values[i]) & 0x3fffffff;
    }
}

/* Each thread gathers what it finds in a part, and takes as many places at once. */
void compact_scan(const float *threshold, const float *values, uint32_t *count, Kept *kept, int64_t value_count,
                  int64_t kept_count) {
    enum { PART = 256 };
    const float least = *threshold;
    (void)kept_count;
#pragma omp parallel for
    for (int64_t start = 0; start < value_count; start += PART) {
        Kept found[PART];
        uint32_t number = 0;
        for (int64_t i = start; i < min64(start + PART, value_count); i++)
            if (values[i] > least) found[number++] = (Kept){(uint32_t)i, values[i]};
        memcpy(kept + __atomic_fetch_add(count, number, __ATOMIC_RELAXED), found, number * sizeof *found);
    }
}

void histogram_rgb(const uint32_t *size, const uint32_t *pixels, uint32_t *counts) {
    const int64_t count = (int64_t)size[0] * size[1];
#pragma omp parallel
    {
        uint32_t mine[3 * BINS] = {0};
#pragma omp for nowait
        for (int64_t i = 0; i < count; i++)
            for (int channel = 0; channel < 3; channel++)
                mine[channel * BINS + (pixels[i] >> 8 * channel & 0xff)]++;
#pragma omp critical
        for (int bin = 0; bin < 3 * BINS; bin++) counts[bin] += mine[bin];
    }
}

void compact_ballot(const Depths *depths, const float *depth, uint32_t *visible, uint32_t *counts, int64_t count,
                    int64_t visible_count, int64_t blocks) {
    (void)visible_count;
#pragma omp parallel for
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t start = block * BALLOT_BLOCK;
        uint32_t found = 0;
        for (int64_t i = start; i < min64(start + BALLOT_BLOCK, count); i++)
            if (depth[i] > depths->nearest && depth[i] < depths->farthest) visible[start + found++] = (uint32_t)i;
        counts[block] = found;
    }
}
