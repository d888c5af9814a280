/* How fast this machine copies and reads what is larger than its caches, on all cores. */
#include <stdint.h>

#ifdef __AVX512F__
#include <immintrin.h>
enum { LANES = 16 };
#define STORE_PAST_CACHES(to, from) _mm512_stream_ps((float *)(to), (__m512)(from))
#elif defined(__AVX__)
#include <immintrin.h>
enum { LANES = 8 };
#define STORE_PAST_CACHES(to, from) _mm256_stream_ps((float *)(to), (__m256)(from))
#else
enum { LANES = 4 };
#define STORE_PAST_CACHES(to, from) (*(to) = (from))
#endif
typedef float Lanes __attribute__((vector_size(LANES * sizeof(float))));
enum { STREAMS = 4 };

/* `count` floats, a multiple of 4 * LANES for each core, at addresses that are multiples of 64. */
void copy(float *to, const float *from, int64_t count) {
    Lanes *target = (Lanes *)to;
    const Lanes *source = (const Lanes *)from;
#pragma omp parallel for
    for (int64_t i = 0; i < count / LANES; i++) {
        Lanes value = source[i];
        __asm__ volatile("" : "+v"(value)); /* so that no call of memcpy is made of the loop */
        target[i] = value;
    }
}

/* The same by stores that do not read the lines first, where the processor has them. */
void copy_past_caches(float *to, const float *from, int64_t count) {
    Lanes *target = (Lanes *)to;
    const Lanes *source = (const Lanes *)from;
#pragma omp parallel for
    for (int64_t i = 0; i < count / LANES; i++) STORE_PAST_CACHES(target + i, source[i]);
}

/* The sum, read in several places of each core's part at a time, which keeps more lines on their way. */
float read_all(const float *from, int64_t count) {
    const Lanes *source = (const Lanes *)from;
    float total = 0;
#pragma omp parallel reduction(+ : total)
    {
        Lanes sums[STREAMS] = {};
#pragma omp for
        for (int64_t part = 0; part < 64; part++) {
            int64_t each = count / LANES / 64 / STREAMS;
            const Lanes *first = source + part * each * STREAMS;
            for (int64_t i = 0; i < each; i++)
#pragma GCC unroll 4
                for (int stream = 0; stream < STREAMS; stream++) sums[stream] += first[stream * each + i];
        }
        for (int stream = 0; stream < STREAMS; stream++)
            for (int lane = 0; lane < LANES; lane++) total += sums[stream][lane];
    }
    return total;
}
