/* The kernels as well as we can write them by hand for AVX2 with FMA: eight lanes, blocks that fit 16 registers.

   They know what the plain loops know, as those of ../avx512 do, and allow themselves the same freedom. Operators act
   on vectors (GCC, clang); products that are summed contract to fused ones. Stores under a mask are slow on some of
   these processors, so that only the ends of rows take them. */
#ifndef LANES_H
#define LANES_H

#include "../../kernels.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

enum { W = 8 };

typedef __m256 Floats;
typedef int32_t Ints __attribute__((vector_size(32), may_alias));
typedef uint32_t Words __attribute__((vector_size(32), may_alias));

/* libmvec's functions on 8 lanes; the compiler itself calls them only under -ffast-math. */
__m256 _ZGVdN8v_expf(__m256);
__m256 _ZGVdN8v_sinf(__m256);
__m256 _ZGVdN8vv_powf(__m256, __m256);

INLINE Floats floats(float v) { return _mm256_set1_ps(v); }
INLINE Ints ints(int32_t v) { return (Ints)_mm256_set1_epi32(v); }
INLINE Words words(uint32_t v) { return (Words)_mm256_set1_epi32((int)v); }
INLINE Ints lane_numbers(void) { return (Ints){0, 1, 2, 3, 4, 5, 6, 7}; }

INLINE Floats load(const float *from) { return _mm256_loadu_ps(from); }
INLINE void store(float *to, Floats v) { _mm256_storeu_ps(to, v); }
INLINE Ints load_ints(const void *from) { return (Ints)_mm256_loadu_si256(from); }
INLINE void store_ints(void *to, Ints v) { _mm256_storeu_si256(to, (__m256i)v); }

/* All bits of the lanes of a vector that begins `left` elements before the end. */
INLINE Ints lanes_left(int64_t left) { return ints((int)min64(max64(left, 0), W)) > lane_numbers(); }

/* The vector that begins `left` elements before the end, with zeros beyond it. */
INLINE Floats load_left(const float *from, int64_t left) {
    return left >= W ? load(from) : _mm256_maskload_ps(from, (__m256i)lanes_left(left));
}

INLINE Ints load_ints_left(const void *from, int64_t left) {
    return left >= W ? load_ints(from) : (Ints)_mm256_maskload_epi32(from, (__m256i)lanes_left(left));
}

INLINE void store_left(float *to, int64_t left, Floats v) {
    if (left >= W) store(to, v);
    else _mm256_maskstore_ps(to, (__m256i)lanes_left(left), v);
}

INLINE void store_ints_left(void *to, int64_t left, Ints v) {
    if (left >= W) store_ints(to, v);
    else _mm256_maskstore_epi32(to, (__m256i)lanes_left(left), (__m256i)v);
}

/* a, or b in the lanes of `where`. */
INLINE Floats chosen(Floats a, Floats where, Floats b) { return _mm256_blendv_ps(a, b, where); }
INLINE Ints chosen_ints(Ints a, Ints where, Ints b) { return (Ints)_mm256_blendv_epi8((__m256i)a, (__m256i)b, (__m256i)where); }
INLINE Floats only(Floats where, Floats v) { return _mm256_and_ps(where, v); }
INLINE int any(Floats where) { return _mm256_movemask_ps(where); }

INLINE Floats at_most(Floats a, Floats b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
INLINE Floats below(Floats a, Floats b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }

INLINE float sum_of_lanes(Floats v) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

INLINE float greatest_lane(Floats v) {
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}

INLINE uint32_t sum_of_ints(Ints v) {
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128((__m256i)v), _mm256_extracti128_si256((__m256i)v, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1)));
}

/* 1 / sqrt(v) to 4 ULP: an estimate of 12 bits and a Newton step. */
INLINE Floats inverse_sqrt(Floats v) {
    const Floats guess = _mm256_rsqrt_ps(v), error = floats(1) - v * guess * guess;
    return floats(0.5f) * guess * error + guess;
}

/* exp(v) for numbers that do not overflow, and for others as of -126 * log(2): see ../avx512/lanes.h. */
INLINE Floats exp_lanes(Floats v) {
    const Floats t = _mm256_max_ps(v * floats(1.44269504f), floats(-126)), whole = _mm256_floor_ps(t), f = t - whole;
    Floats power = f * floats(1.8775767e-3f) + floats(8.9893397e-3f);
    power = f * power + floats(5.5826318e-2f);
    power = f * power + floats(2.4015361e-1f);
    power = f * power + floats(6.9315308e-1f);
    power = f * power + floats(0.99999994f);
    return (Floats)((Ints)power + ((Ints)_mm256_cvtps_epi32(whole) << 23));
}

/* 8 x 8 elements: neighbours by ones and twos within halves, then the halves. */
INLINE void transpose_registers(Ints row[W]) {
    Floats pair[W], four[W];
#pragma GCC unroll 4
    for (int r = 0; r < W; r += 2) {
        pair[r] = _mm256_unpacklo_ps((Floats)row[r], (Floats)row[r + 1]);
        pair[r + 1] = _mm256_unpackhi_ps((Floats)row[r], (Floats)row[r + 1]);
    }
#pragma GCC unroll 2
    for (int r = 0; r < W; r += 4) {
        four[r] = _mm256_shuffle_ps(pair[r], pair[r + 2], 0x44), four[r + 1] = _mm256_shuffle_ps(pair[r], pair[r + 2], 0xee);
        four[r + 2] = _mm256_shuffle_ps(pair[r + 1], pair[r + 3], 0x44);
        four[r + 3] = _mm256_shuffle_ps(pair[r + 1], pair[r + 3], 0xee);
    }
#pragma GCC unroll 4
    for (int r = 0; r < W / 2; r++) {
        row[r] = (Ints)_mm256_permute2f128_ps(four[r], four[r + 4], 0x20);
        row[r + 4] = (Ints)_mm256_permute2f128_ps(four[r], four[r + 4], 0x31);
    }
}

#endif
