/* What this machine can do at most: the bandwidth of a triad, and products and sums, fused or not, on all cores. */
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

/* `rounds` times 12 independent products and sums of LANES floats. The result depends on all of them, so that none can be
   left out. */
static inline __attribute__((always_inline)) float chains(int64_t rounds, int is_fused) {
    Lanes chain[12];
    Lanes factor = (Lanes){} + 0.999f, term = (Lanes){} + 0.001f;
    float total = 0;
    for (int i = 0; i < 12; i++) chain[i] = factor * (float)i;
    __asm__ volatile("" : "+v"(factor), "+v"(term));
    for (int64_t round = 0; round < rounds; round++)
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++) {
            Lanes product = chain[i] * factor;
            if (!is_fused) __asm__("" : "+v"(product)); /* so that the compiler does not fuse them */
            chain[i] = product + term;
        }
    for (int i = 0; i < 12; i++) total += chain[i][0] + chain[i][LANES - 1];
    return total;
}

static float fused_chains(int64_t rounds) { return chains(rounds, 1); }
static float separate_chains(int64_t rounds) { return chains(rounds, 0); }

static int64_t on_all_cores(float (*work)(int64_t), int64_t rounds, float *sum) {
    float total = 0;
    int64_t cores = 0;
#pragma omp parallel reduction(+ : total, cores)
    {
        total += work(rounds);
        cores = 1;
    }
    *sum = total;
    return cores;
}

/* Products and sums in one operation, where the machine has it; the number of cores that took part. */
int64_t fused(int64_t rounds, float *sum) { return on_all_cores(fused_chains, rounds, sum); }

/* The same in two operations, with two roundings. */
int64_t separate(int64_t rounds, float *sum) { return on_all_cores(separate_chains, rounds, sum); }
