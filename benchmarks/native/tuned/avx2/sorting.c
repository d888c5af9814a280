/* Sorting; see lanes.h. */
#include "lanes.h"

INLINE void exchange(float *lower, float *upper, int is_ascending) {
    const float a = *lower, b = *upper;
    if ((a > b) == is_ascending) *lower = b, *upper = a;
}

/* Pairs lie in blocks of 2 * reach; from 8 on, whole vectors meet. */
void bitonic_step(const Step *merge, float *keys, int64_t count) {
    const int64_t block = merge->block, reach = merge->reach;
    const int64_t pairs = (count + 2 * reach - 1) / (2 * reach) * reach;
#pragma omp parallel for schedule(static)
    for (int64_t pair = 0; pair < pairs; pair += W) {
        const int64_t i = 2 * (pair & -reach) + (pair & (reach - 1));
        if (reach >= W && block >= W && i + reach + W <= count) {
            const Floats a = load(keys + i), b = load(keys + i + reach);
            const Floats least = _mm256_min_ps(a, b), most = _mm256_max_ps(a, b);
            const int64_t lower = i & block ? i + reach : i;
            store(keys + lower, least);
            store(keys + (i ^ lower ^ (i + reach)), most);
        } else {
            for (int64_t p = pair; p < min64(pair + W, pairs); p++) {
                const int64_t j = 2 * (p & -reach) + (p & (reach - 1));
                if (j + reach < count) exchange(keys + j, keys + j + reach, !(j & block));
            }
        }
    }
}

/* Blocks of keys: columns of 16 registers are sorted by Batcher's network, whose steps are whole registers, and turned
   into rows of 16 keys, which are merged by twos. */

enum { COLUMN = 16 };

INLINE void order(Ints *low, Ints *high) {
    const __m256i a = (__m256i)*low, b = (__m256i)*high;
    *low = (Ints)_mm256_min_epi32(a, b);
    *high = (Ints)_mm256_max_epi32(a, b);
}

/* Batcher's odd-even merge of the halves of each run of `size` registers. */
INLINE void merge_columns(Ints key[COLUMN], int size) {
#pragma GCC unroll 16
    for (int i = 0; i < COLUMN; i++)
        if (i % size < size / 2) order(&key[i], &key[i + size / 2]);
#pragma GCC unroll 4
    for (int reach = size / 4; reach > 0; reach /= 2)
#pragma GCC unroll 16
        for (int i = 0; i < COLUMN; i++) {
            const int at = i % size;
            if (at >= reach && at + reach < size && (at / reach) % 2 == 1) order(&key[i], &key[i + reach]);
        }
}

/* A bitonic register becomes a sorted one: the lanes whose number has the bit take the greater key of each pair. */
INLINE Ints order_lanes(Ints key) {
    __m256i v = (__m256i)key, other = _mm256_permute2x128_si256(v, v, 0x01);
    v = _mm256_blend_epi32(_mm256_min_epi32(v, other), _mm256_max_epi32(v, other), 0xf0);
    other = _mm256_shuffle_epi32(v, 0x4e);
    v = _mm256_blend_epi32(_mm256_min_epi32(v, other), _mm256_max_epi32(v, other), 0xcc);
    other = _mm256_shuffle_epi32(v, 0xb1);
    return (Ints)_mm256_blend_epi32(_mm256_min_epi32(v, other), _mm256_max_epi32(v, other), 0xaa);
}

/* Merges the sorted halves of `parts` registers: the second is reversed, which makes both one bitonic run. */
INLINE void merge_rows(Ints *key, int parts) {
    const __m256i backwards = (__m256i)(W - 1 - lane_numbers());
    const int half = parts / 2;
#pragma GCC unroll 8
    for (int i = 0; i < half / 2; i++) {
        const __m256i first = (__m256i)key[half + i], last = (__m256i)key[parts - 1 - i];
        key[half + i] = (Ints)_mm256_permutevar8x32_epi32(last, backwards);
        key[parts - 1 - i] = (Ints)_mm256_permutevar8x32_epi32(first, backwards);
    }
#pragma GCC unroll 4
    for (int reach = half; reach > 0; reach /= 2)
#pragma GCC unroll 16
        for (int i = 0; i < parts; i++)
            if (!(i & reach)) order(&key[i], &key[i + reach]);
#pragma GCC unroll 16
    for (int i = 0; i < parts; i++) key[i] = order_lanes(key[i]);
}

/* The 128 keys of 16 registers. */
INLINE void sort_column(Ints *keys) {
    Ints key[COLUMN], row[COLUMN];
#pragma GCC unroll 16
    for (int i = 0; i < COLUMN; i++) key[i] = keys[i];
#pragma GCC unroll 4
    for (int size = 2; size <= COLUMN; size *= 2) merge_columns(key, size);
    transpose_registers(key);
    transpose_registers(key + W);
#pragma GCC unroll 16
    for (int i = 0; i < COLUMN; i++) row[i] = key[i / 2 + i % 2 * W];
#pragma GCC unroll 4
    for (int run = 0; run < COLUMN; run += 4) merge_rows(row + run, 4);
    merge_rows(row, 8);
    merge_rows(row + 8, 8);
    merge_rows(row, 16);
#pragma GCC unroll 16
    for (int i = 0; i < COLUMN; i++) keys[i] = row[i];
}

/* Merges that do not fit the registers: the steps of 16 registers and more in memory, then 16 at a time. */
static void merge_long(Ints *key, int parts) {
    const __m256i backwards = (__m256i)(W - 1 - lane_numbers());
    const int half = parts / 2;
    for (int i = 0; i < half / 2; i++) {
        const __m256i first = (__m256i)key[half + i], last = (__m256i)key[parts - 1 - i];
        key[half + i] = (Ints)_mm256_permutevar8x32_epi32(last, backwards);
        key[parts - 1 - i] = (Ints)_mm256_permutevar8x32_epi32(first, backwards);
    }
    for (int reach = half; reach >= COLUMN / 2; reach /= 2)
        for (int start = 0; start < parts; start += 2 * reach)
            for (int i = start; i < start + reach; i++) order(&key[i], &key[i + reach]);
    for (int start = 0; start < parts; start += COLUMN / 2) {
        Ints row[COLUMN / 2];
#pragma GCC unroll 8
        for (int i = 0; i < COLUMN / 2; i++) row[i] = key[start + i];
#pragma GCC unroll 3
        for (int reach = COLUMN / 4; reach > 0; reach /= 2)
#pragma GCC unroll 8
            for (int i = 0; i < COLUMN / 2; i++)
                if (!(i & reach)) order(&row[i], &row[i + reach]);
#pragma GCC unroll 8
        for (int i = 0; i < COLUMN / 2; i++) key[start + i] = order_lanes(row[i]);
    }
}

typedef enum { UNSIGNED, SIGNED, FLOATS } KeyKind;

/* Integers in the order of the keys whose bits they take, and back. */
INLINE Ints ordered_bits(Ints bits, KeyKind kind) {
    if (kind == UNSIGNED) return bits ^ INT32_MIN;
    if (kind == FLOATS) return bits ^ (Ints)((Words)(bits >> 31) >> 1);
    return bits;
}

INLINE void sort_blocks(void *keys, int64_t count, int block, KeyKind kind) {
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < count; start += block) {
        Ints key[PAIRS_SORT_BLOCK / W];
        int32_t *at = (int32_t *)keys + start;
        const int parts = block / W;
        const int64_t left = count - start;
        for (int p = 0; p < parts; p++) {
            const Ints v = ordered_bits(load_ints_left(at + p * W, left - p * W), kind);
            key[p] = left >= block ? v : chosen_ints(ints(INT32_MAX), lanes_left(left - p * W), v);
        }
        for (int p = 0; p < parts; p += COLUMN) sort_column(key + p);
        for (int run = 2 * COLUMN; run <= parts; run *= 2)
            for (int p = 0; p < parts; p += run) merge_long(key + p, run);
        for (int p = 0; p < parts; p++) store_ints_left(at + p * W, left - p * W, ordered_bits(key[p], kind));
    }
}

void bitonic_sort(uint32_t *keys, int64_t count) { sort_blocks(keys, count, SORT_BLOCK, UNSIGNED); }

void bitonic_pairs(int32_t *keys, int64_t count) { sort_blocks(keys, count, PAIRS_SORT_BLOCK, SIGNED); }

void odd_even_merge(float *keys, int64_t count) { sort_blocks(keys, count, PAIRS_SORT_BLOCK, FLOATS); }

/* Both halves of a block are counted and dealt at the same time, each by a table of its own, so that equal digits in a
   row seldom wait for each other. */
void radix_pass(const uint32_t *shift, const uint32_t *keys, uint32_t *sorted, uint32_t *digit_counts, int64_t count) {
    const uint32_t by = *shift;
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < count; start += RADIX_BLOCK) {
        const int64_t length = min64(RADIX_BLOCK, count - start), half = length / 2;
        const uint32_t *first = keys + start, *second = first + half;
        uint32_t counts[4][RADIX] = {{0}}, *first_end[RADIX], *second_end[RADIX], *to = sorted + start;
        int64_t i = 0;
        for (; i + 2 <= half; i += 2) {
            counts[0][first[i] >> by & 15]++, counts[1][first[i + 1] >> by & 15]++;
            counts[2][second[i] >> by & 15]++, counts[3][second[i + 1] >> by & 15]++;
        }
        for (int64_t j = i; j < half; j++) counts[0][first[j] >> by & 15]++;
        for (int64_t j = i; j < length - half; j++) counts[2][second[j] >> by & 15]++;
        for (int d = 0; d < RADIX; d++) {
            const uint32_t in_first = counts[0][d] + counts[1][d], in_second = counts[2][d] + counts[3][d];
            digit_counts[start / RADIX_BLOCK * RADIX + d] = in_first + in_second;
            first_end[d] = to, second_end[d] = to + in_first;
            to += in_first + in_second;
        }
        for (i = 0; i < half; i++) {
            *first_end[first[i] >> by & 15]++ = first[i];
            *second_end[second[i] >> by & 15]++ = second[i];
        }
        if (i < length - half) *second_end[second[i] >> by & 15]++ = second[i];
    }
}

typedef int64_t Longs __attribute__((vector_size(32), may_alias));

INLINE Longs chosen_longs(Longs a, Longs where, Longs b) {
    return (Longs)_mm256_blendv_epi8((__m256i)a, (__m256i)b, (__m256i)where);
}

INLINE void order_longs(Longs *low, Longs *high) {
    const Longs a = *low, b = *high, is_greater = a > b;
    *low = chosen_longs(a, is_greater, b);
    *high = chosen_longs(b, is_greater, a);
}

/* A bitonic register of four records becomes a sorted one. */
INLINE Longs order_record_lanes(Longs v) {
    Longs other = (Longs)_mm256_permute4x64_epi64((__m256i)v, 0x4e), is_greater = v > other;
    /* The lower lanes take the other record if theirs is greater, the upper ones if it is not. */
    v = chosen_longs(v, is_greater ^ (Longs){0, 0, -1, -1}, other);
    other = (Longs)_mm256_shuffle_epi32((__m256i)v, 0x4e), is_greater = v > other;
    return chosen_longs(v, is_greater ^ (Longs){0, -1, 0, -1}, other);
}

enum { RECORD_PARTS = RECORDS_SORT_BLOCK / 4, RECORD_GROUP = 8 };

/* Eight registers sorted by columns, then turned into four rows of two registers. */
INLINE void sort_records_32(Longs *records) {
    static const int8_t steps[19][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {1, 2}, {5, 6},
                                        {0, 4}, {1, 5}, {2, 6}, {3, 7}, {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};
    Longs v[RECORD_GROUP];
#pragma GCC unroll 8
    for (int i = 0; i < RECORD_GROUP; i++) v[i] = records[i];
#pragma GCC unroll 19
    for (int i = 0; i < 19; i++) order_longs(&v[steps[i][0]], &v[steps[i][1]]);
#pragma GCC unroll 2
    for (int h = 0; h < 2; h++) {
        const __m256i a = (__m256i)v[4 * h], b = (__m256i)v[4 * h + 1], c = (__m256i)v[4 * h + 2], d = (__m256i)v[4 * h + 3];
        const __m256i ab = _mm256_unpacklo_epi64(a, b), cd = _mm256_unpacklo_epi64(c, d);
        const __m256i ab_odd = _mm256_unpackhi_epi64(a, b), cd_odd = _mm256_unpackhi_epi64(c, d);
        records[h] = (Longs)_mm256_permute2x128_si256(ab, cd, 0x20);
        records[2 + h] = (Longs)_mm256_permute2x128_si256(ab_odd, cd_odd, 0x20);
        records[4 + h] = (Longs)_mm256_permute2x128_si256(ab, cd, 0x31);
        records[6 + h] = (Longs)_mm256_permute2x128_si256(ab_odd, cd_odd, 0x31);
    }
}

/* Merges the sorted halves of `parts` registers. */
INLINE void merge_records(Longs *v, int parts) {
    const int half = parts / 2;
    for (int i = 0; i < (half + 1) / 2; i++) {
        const __m256i first = (__m256i)v[half + i], last = (__m256i)v[parts - 1 - i];
        v[half + i] = (Longs)_mm256_permute4x64_epi64(last, 0x1b);
        v[parts - 1 - i] = (Longs)_mm256_permute4x64_epi64(first, 0x1b);
    }
    for (int reach = half; reach >= RECORD_GROUP; reach /= 2)
        for (int start = 0; start < parts; start += 2 * reach)
            for (int i = start; i < start + reach; i++) order_longs(&v[i], &v[i + reach]);
    const int group = parts < RECORD_GROUP ? parts : RECORD_GROUP;
    for (int start = 0; start < parts; start += group) {
        Longs row[RECORD_GROUP];
#pragma GCC unroll 8
        for (int i = 0; i < group; i++) row[i] = v[start + i];
#pragma GCC unroll 3
        for (int reach = group / 2; reach > 0; reach /= 2)
#pragma GCC unroll 8
            for (int i = 0; i < group; i++)
                if (!(i & reach)) order_longs(&row[i], &row[i + reach]);
#pragma GCC unroll 8
        for (int i = 0; i < group; i++) v[start + i] = order_record_lanes(row[i]);
    }
}

/* Key on top, and signed: comparisons of 64 bits are. */
INLINE Longs turned(Longs v) { return (Longs)_mm256_shuffle_epi32((__m256i)v, 0xb1); }

/* Records are words of 64 bits with the key on top, four in a vector. */
void bitonic_records(Record *records, int64_t count) {
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < count; start += RECORDS_SORT_BLOCK) {
        Longs block[RECORD_PARTS];
        const int64_t length = min64(RECORDS_SORT_BLOCK, count - start);
        if (length < RECORDS_SORT_BLOCK) memset(block, 0xff, sizeof block);
        memcpy(block, records + start, length * sizeof *records);
        for (int i = 0; i < RECORD_PARTS; i++) block[i] = turned(block[i]) ^ INT64_MIN;
        for (int i = 0; i < RECORD_PARTS; i += RECORD_GROUP) {
            sort_records_32(block + i);
            merge_records(block + i, 4);
            merge_records(block + i + 4, 4);
            merge_records(block + i, 8);
        }
        for (int run = 16; run <= RECORD_PARTS; run *= 2)
            for (int i = 0; i < RECORD_PARTS; i += run) merge_records(block + i, run);
        for (int i = 0; i < RECORD_PARTS; i++) block[i] = turned(block[i] ^ INT64_MIN);
        memcpy(records + start, block, length * sizeof *records);
    }
}
