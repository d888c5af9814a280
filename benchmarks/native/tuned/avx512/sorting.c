/* Sorting; see lanes.h. */
#include "lanes.h"

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
    const __m512i lane = lane_numbers();
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

/* Blocks of 512 keys in 32 registers: the columns are sorted by Batcher's network, whose steps are whole registers, and
   turned into 16 rows of 32, which are merged by twos. */

enum { BLOCK_PARTS = PAIRS_SORT_BLOCK / W };

INLINE void order(__m512i *low, __m512i *high) {
    const __m512i a = *low, b = *high;
    *low = _mm512_min_epi32(a, b);
    *high = _mm512_max_epi32(a, b);
}

/* Batcher's odd-even merge of the halves of each run of `size` registers. */
INLINE void merge_columns(__m512i key[BLOCK_PARTS], int size) {
#pragma GCC unroll 32
    for (int i = 0; i < BLOCK_PARTS; i++)
        if (i % size < size / 2) order(&key[i], &key[i + size / 2]);
#pragma GCC unroll 4
    for (int reach = size / 4; reach > 0; reach /= 2)
#pragma GCC unroll 32
        for (int i = 0; i < BLOCK_PARTS; i++) {
            const int at = i % size;
            if (at >= reach && at + reach < size && (at / reach) % 2 == 1) order(&key[i], &key[i + reach]);
        }
}

/* Lanes whose number has the bit `reach` keep the greater key of the pair that it parts. */
INLINE __m512i order_lanes(__m512i key, int reach) {
    const __m512i lane = lane_numbers(), bit = _mm512_set1_epi32(reach);
    const __m512i other = _mm512_permutexvar_epi32(_mm512_xor_si512(lane, bit), key);
    return _mm512_mask_max_epi32(_mm512_min_epi32(key, other), _mm512_test_epi32_mask(lane, bit), key, other);
}

/* Merges neighbouring runs of `length` registers: the second is reversed, which makes both one bitonic run. */
INLINE void merge_rows(__m512i key[BLOCK_PARTS], int length) {
    const __m512i backwards = _mm512_sub_epi32(_mm512_set1_epi32(W - 1), lane_numbers());
#pragma GCC unroll 16
    for (int run = 0; run < BLOCK_PARTS; run += 2 * length) {
        __m512i second[BLOCK_PARTS / 2];
#pragma GCC unroll 16
        for (int i = 0; i < length; i++) second[i] = _mm512_permutexvar_epi32(backwards, key[run + 2 * length - 1 - i]);
#pragma GCC unroll 16
        for (int i = 0; i < length; i++) {
            key[run + length + i] = second[i];
            order(&key[run + i], &key[run + length + i]);
        }
    }
#pragma GCC unroll 4
    for (int reach = length / 2; reach > 0; reach /= 2)
#pragma GCC unroll 32
        for (int i = 0; i < BLOCK_PARTS; i++)
            if (!(i & reach)) order(&key[i], &key[i + reach]);
#pragma GCC unroll 32
    for (int i = 0; i < BLOCK_PARTS; i++)
#pragma GCC unroll 4
        for (int reach = W / 2; reach > 0; reach /= 2) key[i] = order_lanes(key[i], reach);
}

INLINE void sort_block(__m512i key[BLOCK_PARTS]) {
#pragma GCC unroll 5
    for (int size = 2; size <= BLOCK_PARTS; size *= 2) merge_columns(key, size);
    transpose_registers(key);
    transpose_registers(key + W);
    /* Row r is now registers r and r + 16. */
    __m512i row[BLOCK_PARTS];
#pragma GCC unroll 32
    for (int i = 0; i < BLOCK_PARTS; i++) row[i] = key[i / 2 + i % 2 * W];
#pragma GCC unroll 4
    for (int length = 2; length < BLOCK_PARTS; length *= 2) merge_rows(row, length);
#pragma GCC unroll 32
    for (int i = 0; i < BLOCK_PARTS; i++) key[i] = row[i];
}

/* Integers in the order of the floats whose bits they take, and back. */
INLINE __m512i ordered_bits(__m512i bits) {
    return _mm512_xor_si512(bits, _mm512_srli_epi32(_mm512_srai_epi32(bits, 31), 1));
}

INLINE void sort_blocks(int32_t *keys, int64_t count, int are_floats) {
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < count; start += PAIRS_SORT_BLOCK) {
        __m512i key[BLOCK_PARTS];
#pragma GCC unroll 32
        for (int p = 0; p < BLOCK_PARTS; p++) {
            key[p] = _mm512_mask_loadu_epi32(_mm512_set1_epi32(are_floats ? 0x7f7fffff : INT32_MAX),
                                             lanes_left(count - start - p * W), keys + start + p * W);
            if (are_floats) key[p] = ordered_bits(key[p]);
        }
        sort_block(key);
#pragma GCC unroll 32
        for (int p = 0; p < BLOCK_PARTS; p++)
            _mm512_mask_storeu_epi32(keys + start + p * W, lanes_left(count - start - p * W),
                                     are_floats ? ordered_bits(key[p]) : key[p]);
    }
}

void bitonic_pairs(int32_t *keys, int64_t count) { sort_blocks(keys, count, 0); }

void odd_even_merge(float *keys, int64_t count) { sort_blocks((int32_t *)keys, count, 1); }

/* Deals keys to four piles by two bits, each in the order in which they come. */
INLINE void deal(const uint32_t *from, int64_t length, uint32_t by, uint32_t *piles[4]) {
    const __m512i shift = _mm512_set1_epi32((int)by), bits = _mm512_set1_epi32(3);
    uint32_t *end[4] = {piles[0], piles[1], piles[2], piles[3]};
    for (int64_t i = 0; i < length; i += W) {
        const __mmask16 here = lanes_left(length - i);
        const __m512i key = _mm512_maskz_loadu_epi32(here, from + i);
        const __m512i digit = _mm512_and_si512(_mm512_srlv_epi32(key, shift), bits);
#pragma GCC unroll 4
        for (int d = 0; d < 4; d++) {
            const __mmask16 mine = _mm512_mask_cmpeq_epi32_mask(here, digit, _mm512_set1_epi32(d));
            _mm512_storeu_si512(end[d], _mm512_maskz_compress_epi32(mine, key));
            end[d] += __builtin_popcount(mine);
        }
    }
    memcpy(piles, end, sizeof end);
}

/* A digit of four bits in two steps of two; how much a pile grows by is how often the digit occurs. */
void radix_pass(const uint32_t *shift, const uint32_t *keys, uint32_t *sorted, uint32_t *digit_counts, int64_t count) {
    const uint32_t by = *shift;
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < count; start += RADIX_BLOCK) {
        uint32_t low[4][RADIX_BLOCK + W], high[4][RADIX_BLOCK + W], *to = sorted + start;
        uint32_t *low_ends[4] = {low[0], low[1], low[2], low[3]}, *high_ends[4] = {high[0], high[1], high[2], high[3]};
        uint32_t *counts = digit_counts + start / RADIX_BLOCK * RADIX;
        deal(keys + start, min64(RADIX_BLOCK, count - start), by, low_ends);
        for (int pile = 0; pile < 4; pile++) {
            uint32_t *before[4] = {high_ends[0], high_ends[1], high_ends[2], high_ends[3]};
            deal(low[pile], low_ends[pile] - low[pile], by + 2, high_ends);
            for (int d = 0; d < 4; d++) counts[4 * d + pile] = (uint32_t)(high_ends[d] - before[d]);
        }
        for (int d = 0; d < 4; d++) {
            memcpy(to, high[d], (high_ends[d] - high[d]) * sizeof *to);
            to += high_ends[d] - high[d];
        }
    }
}

/* The lower numbers of a vector's pairs get the lesser records where `upper` has no bit, and the greater ones where it
   has. */
INLINE __m512i exchange_records(__m512i v, int reach, __mmask8 upper) {
    const __m512i partner = reach == 1   ? _mm512_permutex_epi64(v, 0xb1)
                            : reach == 2 ? _mm512_permutex_epi64(v, 0x4e)
                                         : _mm512_shuffle_i64x2(v, v, 0x4e);
    return _mm512_mask_max_epu64(_mm512_min_epu64(v, partner), upper, v, partner);
}

/* Records are words of 64 bits with the key on top, eight in a vector. */
void bitonic_records(Record *records, int64_t count) {
    enum { HALF = W / 2 };
    static const __mmask8 upper[HALF] = {0, 0xaa, 0xcc, 0, 0xf0}, descending[2 * HALF] = {[2] = 0xcc, [4] = 0xf0};
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < count; start += RECORDS_SORT_BLOCK) {
        _Alignas(64) uint64_t block[RECORDS_SORT_BLOCK];
        const int64_t length = min64(RECORDS_SORT_BLOCK, count - start);
        memset(block, 0xff, sizeof block);
        memcpy(block, records + start, length * sizeof *records);
        for (int i = 0; i < RECORDS_SORT_BLOCK; i += HALF)
            _mm512_store_si512(block + i, _mm512_rol_epi64(_mm512_load_si512(block + i), 32));
        for (int run = 2; run <= RECORDS_SORT_BLOCK; run *= 2) {
            int reach = run / 2;
            for (; reach >= HALF; reach /= 2) {
                for (int i = 0; i < RECORDS_SORT_BLOCK; i += HALF) {
                    if (i & reach) continue;
                    const __m512i a = _mm512_load_si512(block + i), b = _mm512_load_si512(block + i + reach);
                    const __m512i least = _mm512_min_epu64(a, b), most = _mm512_max_epu64(a, b);
                    _mm512_store_si512(block + i, i & run ? most : least);
                    _mm512_store_si512(block + i + reach, i & run ? least : most);
                }
            }
            for (int i = 0; i < RECORDS_SORT_BLOCK; i += HALF) {
                const __mmask8 turned = run < HALF ? descending[run] : i & run ? 0xff : 0;
                __m512i v = _mm512_load_si512(block + i);
                for (int r = reach; r > 0; r /= 2) v = exchange_records(v, r, upper[r] ^ turned);
                _mm512_store_si512(block + i, v);
            }
        }
        for (int i = 0; i < RECORDS_SORT_BLOCK; i += HALF)
            _mm512_store_si512(block + i, _mm512_rol_epi64(_mm512_load_si512(block + i), 32));
        memcpy(records + start, block, length * sizeof *records);
    }
}
