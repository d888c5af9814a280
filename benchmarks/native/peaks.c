/* What this machine can do at most: the bandwidth of a triad, and fused multiply-adds, on all cores. */
#include <stdint.h>

#ifdef __AVX512F__
enum { LANES = 16 };
#elif defined(__AVX__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef float Lanes __attribute__((vector_size(LANES * sizeof(float))));

/* a = b + 3 c over `count` floats: three times 4 bytes an element. */
void triad(float *restrict a, const float *restrict b, const float *restrict c, int64_t count) {
#pragma omp parallel for simd
    for (int64_t i = 0; i < count; i++) a[i] = b[i] + 3.0f * c[i];
}

int64_t fma_lanes(void) { return LANES; }

/* On every core `rounds` times 12 independent fused multiply-adds of LANES floats; the number of cores that took part.
   The sum depends on all of them, so that none can be left out. */
int64_t fused(int64_t rounds, float *sum) {
    float total = 0;
    int64_t cores = 0;
#pragma omp parallel reduction(+ : total, cores)
    {
        Lanes chain[12];
        Lanes factor = (Lanes){} + 0.999f, term = (Lanes){} + 0.001f;
        for (int i = 0; i < 12; i++) chain[i] = factor * (float)i;
        __asm__ volatile("" : "+v"(factor), "+v"(term));
        for (int64_t round = 0; round < rounds; round++)
#pragma GCC unroll 12
            for (int i = 0; i < 12; i++) chain[i] = chain[i] * factor + term;
        for (int i = 0; i < 12; i++) total += chain[i][0] + chain[i][LANES - 1];
        cores = 1;
    }
    *sum = total;
    return cores;
}

/* The same with products and sums that are rounded apart: two operations, which the compiler may not fuse. */
int64_t separate(int64_t rounds, float *sum) {
    float total = 0;
    int64_t cores = 0;
#pragma omp parallel reduction(+ : total, cores)
    {
        Lanes chain[12];
        Lanes factor = (Lanes){} + 0.999f, term = (Lanes){} + 0.001f;
        for (int i = 0; i < 12; i++) chain[i] = factor * (float)i;
        __asm__ volatile("" : "+v"(factor), "+v"(term));
        for (int64_t round = 0; round < rounds; round++)
#pragma GCC unroll 12
            for (int i = 0; i < 12; i++) {
                Lanes product = chain[i] * factor;
                __asm__("" : "+v"(product));
                chain[i] = product + term;
            }
        for (int i = 0; i < 12; i++) total += chain[i][0] + chain[i][LANES - 1];
        cores = 1;
    }
    *sum = total;
    return cores;
}
