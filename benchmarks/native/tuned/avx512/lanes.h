/* The kernels as well as we can write them by hand for AVX-512: intrinsics, blocking, several chains at once.

   They know what the plain loops know, no more: the same parameters, any size, the same result within the same
   tolerance. Other orders of adding and approximate reciprocals are used where that tolerance allows. */

#ifndef LANES_H
#define LANES_H

#include "../../kernels.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

enum { W = 16 };

/* libmvec's functions on 16 lanes; the compiler itself calls them only under -ffast-math. */
__m512 _ZGVeN16v_expf(__m512);
__m512 _ZGVeN16v_sinf(__m512);
__m512 _ZGVeN16vv_powf(__m512, __m512);

/* exp(v) for numbers that do not overflow: 2^t = 2^floor(t) * 2^fraction. The polynomial is the best of its degree for
   2^f on [0, 1] by relative error, 7.5e-8, by Remez's exchange. */
INLINE __m512 exp_lanes(__m512 v) {
    const __m512 t = _mm512_mul_ps(v, _mm512_set1_ps(1.44269504f));
    const __m512 f = _mm512_reduce_ps(t, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    __m512 power = _mm512_fmadd_ps(f, _mm512_set1_ps(1.8775767e-3f), _mm512_set1_ps(8.9893397e-3f));
    power = _mm512_fmadd_ps(f, power, _mm512_set1_ps(5.5826318e-2f));
    power = _mm512_fmadd_ps(f, power, _mm512_set1_ps(2.4015361e-1f));
    power = _mm512_fmadd_ps(f, power, _mm512_set1_ps(6.9315308e-1f));
    power = _mm512_fmadd_ps(f, power, _mm512_set1_ps(0.99999994f));
    return _mm512_scalef_ps(power, t);
}

/* The lanes of a vector that begins `left` elements before the end. */
INLINE __mmask16 lanes_left(int64_t left) { return left >= W ? 0xffff : left <= 0 ? 0 : (__mmask16)((1u << left) - 1); }

INLINE __m512i lane_numbers(void) { return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0); }

INLINE void swap_halves(__m512i *a, __m512i *b, __m512i low, __m512i high) {
    const __m512i first = *a, second = *b;
    *a = _mm512_permutex2var_epi32(first, low, second);
    *b = _mm512_permutex2var_epi32(first, high, second);
}

/* 16 x 16 elements: in round r, rows that differ in bit r exchange the columns that differ in it. */
INLINE void transpose_registers(__m512i row[W]) {
#pragma GCC unroll 4
    for (int bit = 1; bit < W; bit *= 2) {
        const __m512i lane = lane_numbers(), bits = _mm512_set1_epi32(bit);
        const __mmask16 upper = _mm512_test_epi32_mask(lane, bits);
        /* Lanes of the second operand are numbered from 16. */
        const __m512i low = _mm512_mask_add_epi32(lane, upper, _mm512_sub_epi32(lane, bits), _mm512_set1_epi32(W));
        const __m512i second = _mm512_add_epi32(lane, _mm512_set1_epi32(W));
        const __m512i high = _mm512_mask_mov_epi32(_mm512_add_epi32(lane, bits), upper, second);
#pragma GCC unroll 16
        for (int r = 0; r < W; r++)
            if (!(r & bit)) swap_halves(&row[r], &row[r | bit], low, high);
    }
}

#endif
