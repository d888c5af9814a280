/* Sorting, in plain loops as one first writes them. */
#include "../kernels.h"

void bitonic_step(const Step *merge, float *keys, int64_t count) {
    const int64_t block = merge->block, reach = merge->reach;
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        const int64_t partner = i ^ reach;
        if (partner <= i || partner >= count) continue;
        const float lower = keys[i], upper = keys[partner];
        if ((lower > upper) == ((i & block) == 0)) {
            keys[i] = upper;
            keys[partner] = lower;
        }
    }
}

void bitonic_sort(uint32_t *keys, int64_t count) {
#pragma omp parallel for
    for (int64_t start = 0; start < count; start += SORT_BLOCK) {
        uint32_t block[SORT_BLOCK];
        const int64_t length = min64(SORT_BLOCK, count - start);
        memset(block, 0xff, sizeof block);
        memcpy(block, keys + start, length * sizeof *keys);
        for (int run = 2; run <= SORT_BLOCK; run *= 2) {
            for (int reach = run / 2; reach > 0; reach /= 2) {
                for (int i = 0; i < SORT_BLOCK; i++) {
                    const int partner = i ^ reach;
                    if (partner > i && (block[i] > block[partner]) == ((i & run) == 0)) {
                        const uint32_t key = block[i];
                        block[i] = block[partner];
                        block[partner] = key;
                    }
                }
            }
        }
        memcpy(keys + start, block, length * sizeof *keys);
    }
}

void bitonic_pairs(int32_t *keys, int64_t count) {
#pragma omp parallel for
    for (int64_t start = 0; start < count; start += PAIRS_SORT_BLOCK) {
        int32_t block[PAIRS_SORT_BLOCK];
        const int64_t length = min64(PAIRS_SORT_BLOCK, count - start);
        for (int i = 0; i < PAIRS_SORT_BLOCK; i++) block[i] = INT32_MAX;
        memcpy(block, keys + start, length * sizeof *keys);
        for (int run = 2; run <= PAIRS_SORT_BLOCK; run *= 2) {
            for (int reach = run / 2; reach > 0; reach /= 2) {
                for (int t = 0; t < PAIRS_SORT_BLOCK / 2; t++) {
                    const int i = 2 * t - (t & (reach - 1));
                    const int32_t a = block[i], b = block[i + reach];
                    if ((a > b) == ((i & run) == 0)) block[i] = b, block[i + reach] = a;
                }
            }
        }
        memcpy(keys + start, block, length * sizeof *keys);
    }
}

static void order(float *low, float *high) {
    const float a = *low, b = *high;
    *low = a < b ? a : b;
    *high = a < b ? b : a;
}

void odd_even_merge(float *keys, int64_t count) {
    enum { BLOCK = PAIRS_SORT_BLOCK };
#pragma omp parallel for
    for (int64_t start = 0; start < count; start += BLOCK) {
        float block[BLOCK];
        const int64_t length = min64(BLOCK, count - start);
        for (int i = 0; i < BLOCK; i++) block[i] = 3.4028234e38f;
        memcpy(block, keys + start, length * sizeof *keys);
        for (int size = 2; size <= BLOCK; size *= 2) {
            for (int run = 0; run < BLOCK; run += size)
                for (int i = run; i < run + size / 2; i++) order(block + i, block + i + size / 2);
            for (int reach = size / 4; reach > 0; reach /= 2)
                for (int run = 0; run < BLOCK; run += size)
                    for (int pair = run + reach; pair + 2 * reach <= run + size; pair += 2 * reach)
                        for (int i = pair; i < pair + reach; i++) order(block + i, block + i + reach);
        }
        memcpy(keys + start, block, length * sizeof *keys);
    }
}

void radix_pass(const uint32_t *shift, const uint32_t *keys, uint32_t *sorted, uint32_t *digit_counts, int64_t count) {
    const uint32_t by = *shift;
#pragma omp parallel for
    for (int64_t start = 0; start < count; start += RADIX_BLOCK) {
        const int64_t end = min64(start + RADIX_BLOCK, count);
        uint32_t places[RADIX] = {0}, *counts = digit_counts + start / RADIX_BLOCK * RADIX, place = 0;
        for (int64_t i = start; i < end; i++) places[keys[i] >> by & (RADIX - 1)]++;
        for (int digit = 0; digit < RADIX; digit++) {
            counts[digit] = places[digit];
            places[digit] = place;
            place += counts[digit];
        }
        for (int64_t i = start; i < end; i++) sorted[start + places[keys[i] >> by & (RADIX - 1)]++] = keys[i];
    }
}

void bitonic_records(Record *records, int64_t count) {
#pragma omp parallel for
    for (int64_t start = 0; start < count; start += RECORDS_SORT_BLOCK) {
        Record block[RECORDS_SORT_BLOCK];
        const int64_t length = min64(RECORDS_SORT_BLOCK, count - start);
        memset(block, 0xff, sizeof block);
        memcpy(block, records + start, length * sizeof *records);
        for (int run = 2; run <= RECORDS_SORT_BLOCK; run *= 2) {
            for (int reach = run / 2; reach > 0; reach /= 2) {
                for (int i = 0; i < RECORDS_SORT_BLOCK; i++) {
                    const int partner = i ^ reach;
                    if (partner > i && (block[i].key > block[partner].key) == ((i & run) == 0)) {
                        const Record record = block[i];
                        block[i] = block[partner];
                        block[partner] = record;
                    }
                }
            }
        }
        memcpy(records + start, block, length * sizeof *records);
    }
}
