/* The kernels whose vectors, if any, the compiler makes, or of which no lanes are wide: the same on every processor with
   AVX2. See avx512/lanes.h and avx2/lanes.h for the others. */
#include "../kernels.h"

#include <immintrin.h>

/* Numbers beyond a row's end that the compiler's vectors may touch. */
enum { SPARE = 64 };

/* A row of vertical sums in a buffer, then sums along it; the buffer stays in the first cache. */
void blur(const uint32_t *size, const float *source, float *blurred) {
    const int64_t width = size[0], height = size[1];
#pragma omp parallel
    {
        float *sums = _mm_malloc((width + 2 + SPARE) * sizeof *sums, 64), *middle = sums + SPARE / 4;
#pragma omp for schedule(static)
        for (int64_t y = 0; y < height; y++) {
            const float *above = source + max64(y - 1, 0) * width, *here = source + y * width;
            const float *below = source + min64(y + 1, height - 1) * width;
            float *to = blurred + y * width;
#pragma omp simd
            for (int64_t x = 0; x < width; x++) middle[x] = 0.0625f * (above[x] + below[x]) + 0.125f * here[x];
            middle[-1] = middle[0];
            middle[width] = middle[width - 1];
#pragma omp simd
            for (int64_t x = 0; x < width; x++) to[x] = (middle[x - 1] + middle[x + 1]) + 2 * middle[x];
        }
        _mm_free(sums);
    }
}

void life(const int32_t *size, const uint32_t *cells, uint32_t *next_cells) {
    const int64_t width = size[0], height = size[1];
#pragma omp parallel
    {
        uint32_t *sums = _mm_malloc((width + 2 + SPARE) * sizeof *sums, 64), *middle = sums + SPARE / 4;
#pragma omp for schedule(static)
        for (int64_t y = 0; y < height; y++) {
            const uint32_t *above = cells + (y ? y - 1 : height - 1) * width, *here = cells + y * width;
            const uint32_t *below = cells + (y + 1 < height ? y + 1 : 0) * width;
            uint32_t *to = next_cells + y * width;
#pragma omp simd
            for (int64_t x = 0; x < width; x++) middle[x] = above[x] + here[x] + below[x];
            middle[-1] = middle[width - 1];
            middle[width] = middle[0];
            /* The cell itself is in the sum: 3 with it or without lives on, 4 only with it. */
#pragma omp simd
            for (int64_t x = 0; x < width; x++) {
                const uint32_t sum = middle[x - 1] + middle[x] + middle[x + 1];
                to[x] = (sum == 3) | ((sum == 4) & here[x]);
            }
        }
        _mm_free(sums);
    }
}

void flood_large(const Flood *flood, const int32_t *seeds, int32_t *nearest) {
    const int32_t width = flood->size[0], height = flood->size[1], reach = flood->reach;
#pragma omp parallel for schedule(static)
    for (int32_t y = 0; y < height; y++) {
        for (int32_t x = 0; x < width; x++) {
            int32_t best = -1, least = INT32_MAX;
            for (int neighbour = 0; neighbour < 9; neighbour++) {
                const int32_t u = x + reach * (neighbour % 3 - 1), v = y + reach * (neighbour / 3 - 1);
                if (u < 0 || v < 0 || u >= width || v >= height) continue;
                const int32_t seed = seeds[(int64_t)v * width + u], dx = seed % width - x, dy = seed / width - y;
                if (seed >= 0 && dx * dx + dy * dy < least) least = dx * dx + dy * dy, best = seed;
            }
            nearest[(int64_t)y * width + x] = best;
        }
    }
}

/* The compiler makes vectors of the rows, which three loads out of seven find in the first cache. */
void heat(const Grid *grid, const float *restrict before, float *restrict after) {
    const int64_t nx = grid->nx, ny = grid->ny, nz = grid->nz;
    const float rate = grid->rate;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < ny * nz; row++) {
        const int64_t y = row % ny, z = row / ny;
        const float *here = before + row * nx;
        float *to = after + row * nx;
        if (y == 0 || z == 0 || y == ny - 1 || z == nz - 1) {
            memcpy(to, here, nx * sizeof *to);
            continue;
        }
        const float *above = here - nx, *below = here + nx, *front = here - nx * ny, *back = here + nx * ny;
        to[0] = here[0], to[nx - 1] = here[nx - 1];
        for (int64_t x = 1; x < nx - 1; x++) {
            const float sum = here[x - 1] + here[x + 1] + above[x] + below[x] + front[x] + back[x];
            to[x] = here[x] + rate * (sum - 6 * here[x]);
        }
    }
}

/* A cluster more than there are takes what belongs to none; two tables in turns. */
void kmeans_update(const Vec4 *points, const uint32_t *labels, Vec4 *partial_sums, int64_t count) {
    enum { TABLES = 2 };
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < count; start += UPDATE_PART) {
        __m128 sums[TABLES][CLUSTERS + 1];
        memset(sums, 0, sizeof sums);
        for (int64_t i = start; i < min64(start + UPDATE_PART, count); i++) {
            __m128 *sum = &sums[i % TABLES][min64(labels[i], CLUSTERS)];
            *sum = _mm_add_ps(*sum, _mm_loadu_ps(&points[i].x));
        }
        for (int c = 0; c < CLUSTERS; c++)
            _mm_storeu_ps(&partial_sums[start / UPDATE_PART * CLUSTERS + c].x, _mm_add_ps(sums[0][c], sums[1][c]));
    }
}

/* A table for each byte of a word, and two words at a time: equal neighbours then do not wait for each other. */
static void count_bytes(const uint32_t *words, uint32_t *counts, int64_t count) {
#pragma omp parallel
    {
        uint32_t mine[8][BINS] = {{0}};
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < count / 2; i++) {
            uint64_t pair;
            memcpy(&pair, words + 2 * i, sizeof pair);
#pragma GCC unroll 8
            for (int byte = 0; byte < 8; byte++) mine[byte][pair >> 8 * byte & 0xff]++;
        }
#pragma omp critical
        for (int bin = 0; bin < BINS; bin++)
            for (int byte = 0; byte < 8; byte++) counts[bin] += mine[byte][bin];
    }
    if (count % 2)
        for (int shift = 0; shift < 32; shift += 8) counts[words[count - 1] >> shift & 0xff]++;
}

void histogram_global(const uint32_t *words, uint32_t *counts, int64_t count) { count_bytes(words, counts, count); }

void histogram_local(const uint32_t *words, uint32_t *counts, int64_t count) { count_bytes(words, counts, count); }

/* A table for each of four keys in a row. */
void histogram_coalesced(const uint32_t *keys, uint32_t *counts, int64_t count) {
    enum { TABLES = 4 };
#pragma omp parallel
    {
        uint32_t mine[TABLES][BINS] = {{0}};
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < count / TABLES; i++)
#pragma GCC unroll 4
            for (int t = 0; t < TABLES; t++) mine[t][keys[TABLES * i + t] >> 24]++;
#pragma omp critical
        for (int bin = 0; bin < BINS; bin++)
            for (int t = 0; t < TABLES; t++) counts[bin] += mine[t][bin];
    }
    for (int64_t i = count / TABLES * TABLES; i < count; i++) counts[keys[i] >> 24]++;
}

void histogram_bytes(const uint32_t *length, const uint32_t *text, uint32_t *frequencies) {
    const uint8_t *bytes = (const uint8_t *)text;
    count_bytes(text, frequencies, *length / 4);
    for (uint32_t i = *length / 4 * 4; i < *length; i++) frequencies[bytes[i]]++;
}

static inline void count_pixel(uint32_t pixel, uint32_t *table) {
    table[pixel & 0xff]++, table[BINS + (pixel >> 8 & 0xff)]++, table[2 * BINS + (pixel >> 16 & 0xff)]++;
}

/* Two tables, so that equal pixels after one another do not wait for each other. */
void histogram_rgb(const uint32_t *size, const uint32_t *pixels, uint32_t *counts) {
    const int64_t count = (int64_t)size[0] * size[1];
#pragma omp parallel
    {
        uint32_t mine[2][3 * BINS] = {{0}};
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < count / 2; i++)
#pragma GCC unroll 2
            for (int t = 0; t < 2; t++) count_pixel(pixels[2 * i + t], mine[t]);
#pragma omp critical
        for (int bin = 0; bin < 3 * BINS; bin++) counts[bin] += mine[0][bin] + mine[1][bin];
    }
    if (count % 2) count_pixel(pixels[count - 1], counts);
}

/* The four channels of a texel are the lanes of a vector, which slides along a row. Sums below 2^16 times the rounded
   reciprocal, with a half of the last place added, have the whole part of the quotient. */
void blur_rows(const BoxBlur *blur, const uint32_t *source, uint32_t *blurred) {
    const int64_t width = blur->size[0], radius = blur->radius;
    const float share = 1.0f / (float)(2 * radius + 1);
    const __m128 factor = _mm_set1_ps(share), half = _mm_set1_ps(0.25f * share);
    const __m128i lowest = _mm_set1_epi32(0x0c080400);
#pragma omp parallel for schedule(static)
    for (int64_t y = 0; y < blur->size[1]; y++) {
        const uint32_t *from = source + y * width;
        uint32_t *to = blurred + y * width;
#define CHANNELS(x) _mm_cvtepu8_epi32(_mm_cvtsi32_si128((int)from[x]))
        __m128i sum = _mm_mullo_epi32(CHANNELS(0), _mm_set1_epi32((int)radius + 1));
        for (int64_t x = 1; x <= radius; x++) sum = _mm_add_epi32(sum, CHANNELS(min64(x, width - 1)));
        for (int64_t x = 0; x < width; x++) {
            const __m128i mean = _mm_cvttps_epi32(_mm_add_ps(_mm_mul_ps(_mm_cvtepi32_ps(sum), factor), half));
            to[x] = (uint32_t)_mm_cvtsi128_si32(_mm_shuffle_epi8(mean, lowest));
            sum = _mm_add_epi32(sum, CHANNELS(min64(x + radius + 1, width - 1)));
            sum = _mm_sub_epi32(sum, CHANNELS(max64(x - radius, 0)));
        }
#undef CHANNELS
    }
}
