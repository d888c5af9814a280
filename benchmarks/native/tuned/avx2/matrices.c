/* Matrices, Fourier transforms, attention; see lanes.h. */
#include "lanes.h"

/* Matrix products: panels of b, 16 columns wide, are copied together; 6 x 16 elements of c stay in registers */

enum { ROWS = 6, VECTORS = 2, COLUMNS = VECTORS * W, DEPTH = 256, ROW_CHUNK = 16 * ROWS };

INLINE void tile(int rows, int64_t depth, const float *a, int64_t a_stride, const float *panel, float *c,
                 int64_t c_stride, int64_t columns, int adds) {
    Floats sum[ROWS][VECTORS];
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++) {
            sum[r][v] = floats(0);
            if (adds) sum[r][v] = load_left(c + r * c_stride + v * W, columns - v * W);
        }
    for (int64_t i = 0; i < depth; i++) {
        const Floats first = _mm256_load_ps(panel + i * COLUMNS), second = _mm256_load_ps(panel + i * COLUMNS + W);
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) {
            const Floats factor = floats(a[r * a_stride + i]);
            sum[r][0] += factor * first;
            sum[r][1] += factor * second;
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++) store_left(c + r * c_stride + v * W, columns - v * W, sum[r][v]);
}

static void strip(int64_t rows, int64_t depth, const float *a, int64_t a_stride, const float *panel, float *c,
                  int64_t c_stride, int64_t columns, int adds) {
    for (; rows >= ROWS; rows -= ROWS, a += ROWS * a_stride, c += ROWS * c_stride)
        tile(ROWS, depth, a, a_stride, panel, c, c_stride, columns, adds);
    for (; rows > 0; rows--, a += a_stride, c += c_stride) tile(1, depth, a, a_stride, panel, c, c_stride, columns, adds);
}

/* Several panels of a chunk of rows after one another, so that the rows of a stay in the second cache. */
static void matmul(const MatmulSize *size, const float *a, const float *b, float *c) {
    const int64_t m = size->m, k = size->k, n = size->n;
    const int64_t panels = (n + COLUMNS - 1) / COLUMNS, chunks = (m + ROW_CHUNK - 1) / ROW_CHUNK;
    float *packed = _mm_malloc(panels * k * COLUMNS * sizeof *packed, 64);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t panel = 0; panel < panels; panel++)
            for (int64_t i = 0; i < k; i++)
                for (int v = 0; v < VECTORS; v++) {
                    const int64_t column = panel * COLUMNS + v * W;
                    const Floats part = load_left(b + i * n + column, n - column);
                    _mm256_store_ps(packed + (panel * k + i) * COLUMNS + v * W, part);
                }
#pragma omp for schedule(dynamic) collapse(2)
        for (int64_t chunk = 0; chunk < chunks; chunk++)
            for (int64_t group = 0; group < (panels + 3) / 4; group++)
                for (int64_t start = 0; start < k; start += DEPTH)
                    for (int64_t panel = 4 * group; panel < min64(4 * group + 4, panels); panel++) {
                        const int64_t top = chunk * ROW_CHUNK, left = panel * COLUMNS;
                        strip(min64(ROW_CHUNK, m - top), min64(DEPTH, k - start), a + top * k + start, k,
                              packed + (panel * k + start) * COLUMNS, c + top * n + left, n, n - left, start > 0);
                    }
    }
    _mm_free(packed);
}

void matmul_naive(const MatmulSize *size, const float *a, const float *b, float *c) { matmul(size, a, b, c); }

void matmul_tiled(const MatmulSize *size, const float *a, const float *b, float *c) { matmul(size, a, b, c); }

void matmul_flat_tiles(const MatmulSize *size, const float *a, const float *b, float *c) { matmul(size, a, b, c); }

void matmul_blocks(const MatmulSize *size, const float *a, const float *b, float *c) { matmul(size, a, b, c); }

void matmul_vec4(const MatmulSize *size, const float *a, const float *b, float *c) { matmul(size, a, b, c); }

void softmax(const uint32_t *columns, const float *scores, float *shares, int64_t count) {
    const int64_t width = *columns, rows = count / width, whole = width / W * W;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        const float *from = scores + row * width;
        float *to = shares + row * width;
        const Floats beyond = (Floats)~lanes_left(width - whole);
        Floats greatest[2] = {floats(from[0]), floats(from[0])}, sum = floats(0);
        int64_t i = 0;
        for (; i + 2 * W <= width; i += 2 * W) {
            greatest[0] = _mm256_max_ps(greatest[0], load(from + i));
            greatest[1] = _mm256_max_ps(greatest[1], load(from + i + W));
        }
        for (; i < width; i++) greatest[0] = _mm256_max_ps(greatest[0], floats(from[i]));
        const Floats most = floats(greatest_lane(_mm256_max_ps(greatest[0], greatest[1])));
        for (i = 0; i < whole; i += W) {
            const Floats weight = exp_lanes(load(from + i) - most);
            store(to + i, weight);
            sum += weight;
        }
        if (whole < width) {
            const Floats weight = exp_lanes(load_left(from + whole, width - whole) - most);
            store_left(to + whole, width - whole, weight);
            sum += _mm256_andnot_ps(beyond, weight);
        }
        const Floats inverse = floats(1 / sum_of_lanes(sum));
        for (i = 0; i < width; i += W) store_left(to + i, width - i, load_left(to + i, width - i) * inverse);
    }
}

/* Four loads and a sum are faster than a gather on the processors that this is for; several chains hide latency. */
void spmv(const uint32_t *row_starts, const Element *elements, const float *vector, float *product, int64_t start_count,
          int64_t element_count, int64_t vector_count, int64_t rows) {
    (void)start_count, (void)element_count, (void)vector_count;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        const int64_t end = row_starts[row + 1];
        int64_t i = row_starts[row];
        float sum[4] = {0};
        for (; i + 4 <= end; i += 4)
#pragma GCC unroll 4
            for (int g = 0; g < 4; g++) sum[g] += elements[i + g].value * vector[elements[i + g].column];
        for (; i < end; i++) sum[0] += elements[i].value * vector[elements[i].column];
        product[row] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

/* Most rows are short: one chain for each, of which the processor has several under way. */
void spmv_lanes(const uint32_t *row_starts, const uint32_t *columns, const float *elements, const float *vector,
                float *product, int64_t start_count, int64_t column_count, int64_t element_count, int64_t vector_count,
                int64_t rows) {
    (void)start_count, (void)column_count, (void)element_count, (void)vector_count;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        float sum = 0;
        for (int64_t i = row_starts[row]; i < row_starts[row + 1]; i++) sum += elements[i] * vector[columns[i]];
        product[row] = sum;
    }
}

/* Rows by the block, whose sums stay in the first cache: what is read lies side by side for long enough to be fetched
   ahead. A negative column is an empty place. */
void spmv_ell(const EllMatrix *matrix, const int32_t *columns, const float *elements, const float *vector,
              float *product) {
    enum { BLOCK = 512 };
    const int64_t rows = matrix->rows, places = matrix->places;
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < rows; start += BLOCK) {
        const int64_t length = min64(BLOCK, rows - start);
        _Alignas(64) float sums[BLOCK] = {0};
        for (int64_t at = start; at < places * rows; at += rows) {
            for (int64_t i = 0; i < length; i += W) {
                const int64_t left = length - i;
                const Ints column = load_ints_left(columns + at + i, left);
                const Floats full = (Floats)((column >= 0) & (left >= W ? ints(-1) : lanes_left(left)));
                const Floats factor = _mm256_mask_i32gather_ps(floats(0), vector, (__m256i)column, full, 4);
                const Floats element = only(full, load_left(elements + at + i, left));
                _mm_prefetch((const char *)(columns + at + rows + i), _MM_HINT_T0);
                _mm_prefetch((const char *)(elements + at + rows + i), _MM_HINT_T0);
                _mm256_store_ps(sums + i, element * factor + _mm256_load_ps(sums + i));
            }
        }
        memcpy(product + start, sums, length * sizeof *sums);
    }
}

/* Whole lines of 64 bytes are read and written: 16 x 16 elements as four squares of registers. */
INLINE void transpose_tile(const float *from, int64_t from_stride, float *to, int64_t to_stride) {
#pragma GCC unroll 2
    for (int x = 0; x < 2 * W; x += W) {
        Ints low[W], high[W];
#pragma GCC unroll 8
        for (int r = 0; r < W; r++) low[r] = load_ints(from + r * from_stride + x);
        transpose_registers(low);
#pragma GCC unroll 8
        for (int r = 0; r < W; r++) store_ints(to + (x + r) * to_stride, low[r]);
#pragma GCC unroll 8
        for (int r = 0; r < W; r++) high[r] = load_ints(from + (W + r) * from_stride + x);
        transpose_registers(high);
#pragma GCC unroll 8
        for (int r = 0; r < W; r++) store_ints(to + (x + r) * to_stride + W, high[r]);
    }
}

void transpose(const uint32_t *size, const float *matrix, float *transposed) {
    enum { SIDE = 2 * W };
    const int64_t columns = size[0], rows = size[1];
    const int64_t whole_columns = columns / SIDE * SIDE, whole_rows = rows / SIDE * SIDE;
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (int64_t left = 0; left < whole_columns; left += SIDE)
            for (int64_t top = 0; top < whole_rows; top += SIDE)
                transpose_tile(matrix + top * columns + left, columns, transposed + left * rows + top, rows);
#pragma omp for schedule(static)
        for (int64_t row = 0; row < rows; row++)
            for (int64_t column = row < whole_rows ? whole_columns : 0; column < columns; column++)
                transposed[column * rows + row] = matrix[row * columns + column];
    }
}

/* Fourier transforms of 256 points as 16 x 16: transforms of the columns, whose lanes lie side by side, factors, and
   transforms of the rows, after turning. Each of those is 4 x 4 once more: four points are what the registers hold. */

enum { SIDE = 16 };

typedef struct { Floats re, im; } Complex;

INLINE Complex add(Complex a, Complex b) { return (Complex){a.re + b.re, a.im + b.im}; }

INLINE Complex subtract(Complex a, Complex b) { return (Complex){a.re - b.re, a.im - b.im}; }

INLINE Complex times(Complex a, Floats re, Floats im) {
    return (Complex){a.re * re - a.im * im, a.re * im + a.im * re};
}

/* Four points, `step` apart. */
INLINE void fourier_4(Complex *x, int step) {
    const Complex a = add(x[0], x[2 * step]), b = subtract(x[0], x[2 * step]);
    const Complex c = add(x[step], x[3 * step]), d = subtract(x[step], x[3 * step]);
    x[0] = add(a, c);
    x[2 * step] = subtract(a, c);
    x[step] = (Complex){b.re + d.im, b.im - d.re};
    x[3 * step] = (Complex){b.re - d.im, b.im + d.re};
}

/* Sixteen points: the transform's element k1 + 4 * k2 is left in x[4 * k1 + k2]. */
INLINE void fourier_16(Complex x[SIDE]) {
    static const float cosines[10] = {1, 0.92387953f, 0.70710678f, 0.38268343f, 0, 0, -0.70710678f, 0, 0, -0.92387953f};
    static const float sines[10] = {0, -0.38268343f, -0.70710678f, -0.92387953f, -1, 0, -0.70710678f, 0, 0, 0.38268343f};
#pragma GCC unroll 4
    for (int n = 0; n < 4; n++) fourier_4(x + n, 4);
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
#pragma GCC unroll 3
        for (int n = 1; n < 4 && k; n++) x[4 * k + n] = times(x[4 * k + n], floats(cosines[k * n]), floats(sines[k * n]));
        fourier_4(x + 4 * k, 1);
    }
}

INLINE int fourier_place(int k) { return k % 4 * 4 + k / 4; }

/* Pairs of numbers as two vectors, and back: halves are exchanged before or after the shuffles, which keep to them. */
INLINE Complex load_pairs(const float *from) {
    const Floats a = load(from), b = load(from + W);
    const Floats low = _mm256_permute2f128_ps(a, b, 0x20), high = _mm256_permute2f128_ps(a, b, 0x31);
    return (Complex){_mm256_shuffle_ps(low, high, 0x88), _mm256_shuffle_ps(low, high, 0xdd)};
}

INLINE void store_pairs(float *to, Complex x) {
    const Floats low = _mm256_unpacklo_ps(x.re, x.im), high = _mm256_unpackhi_ps(x.re, x.im);
    store(to, _mm256_permute2f128_ps(low, high, 0x20));
    store(to + W, _mm256_permute2f128_ps(low, high, 0x31));
}

typedef struct { _Alignas(64) float cosines[SIDE][SIDE], sines[SIDE][SIDE]; } Factors;

static void fourier_256(const Factors *factors, const float *signal, float *spectrum) {
    _Alignas(64) float re[SIDE][SIDE], im[SIDE][SIDE];
    for (int left = 0; left < SIDE; left += W) {
        Complex x[SIDE];
#pragma GCC unroll 16
        for (int r = 0; r < SIDE; r++) x[r] = load_pairs(signal + 2 * (SIDE * r + left));
        fourier_16(x);
        /* Rows k of this half's columns become columns k of its rows. */
#pragma GCC unroll 2
        for (int top = 0; top < SIDE; top += W) {
            Ints real[W], imaginary[W];
#pragma GCC unroll 8
            for (int r = 0; r < W; r++) {
                const int k = top + r;
                const Complex it = times(x[fourier_place(k)], load(&factors->cosines[k][left]), load(&factors->sines[k][left]));
                real[r] = (Ints)it.re, imaginary[r] = (Ints)it.im;
            }
            transpose_registers(real);
            transpose_registers(imaginary);
#pragma GCC unroll 8
            for (int r = 0; r < W; r++) {
                store_ints(&re[left + r][top], real[r]);
                store_ints(&im[left + r][top], imaginary[r]);
            }
        }
    }
    for (int left = 0; left < SIDE; left += W) {
        Complex x[SIDE];
#pragma GCC unroll 16
        for (int r = 0; r < SIDE; r++) x[r] = (Complex){load(&re[r][left]), load(&im[r][left])};
        fourier_16(x);
#pragma GCC unroll 16
        for (int k = 0; k < SIDE; k++) store_pairs(spectrum + 2 * (SIDE * k + left), x[fourier_place(k)]);
    }
}

void fft(const float *signal, float *spectrum, int64_t count) {
    Factors factors;
    for (int k = 0; k < SIDE; k++)
        for (int n = 0; n < SIDE; n++) {
            factors.cosines[k][n] = (float)cos(-2 * 3.14159265358979 * k * n / FFT_POINTS);
            factors.sines[k][n] = (float)sin(-2 * 3.14159265358979 * k * n / FFT_POINTS);
        }
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < 2 * count; start += 2 * FFT_POINTS)
        fourier_256(&factors, signal + start, spectrum + start);
}

/* Attention: lanes are queries, 16 at a time. Scores of four keys, and sums of four dimensions, are registers. */

enum { QUERIES = 2 * W, KEY_TILE = 64, GROUP = 4 };

typedef struct {
    Floats query[HEAD][2], sums[HEAD][2], weights[KEY_TILE][2], greatest[2], total[2];
} Heads;

/* The last group of keys repeats the last key; its weights are not looked at. */
INLINE void score_keys(Heads *h, const float *k, int first, int rows) {
    const float *key[GROUP];
    Floats score[GROUP][2];
#pragma GCC unroll 4
    for (int j = 0; j < GROUP; j++) {
        key[j] = k + min64(first + j, rows - 1) * HEAD;
        score[j][0] = score[j][1] = floats(0);
    }
    for (int d = 0; d < HEAD; d++)
#pragma GCC unroll 4
        for (int j = 0; j < GROUP; j++) {
            const Floats element = floats(key[j][d]);
            score[j][0] += element * h->query[d][0];
            score[j][1] += element * h->query[d][1];
        }
#pragma GCC unroll 4
    for (int j = 0; j < GROUP; j++) h->weights[first + j][0] = score[j][0], h->weights[first + j][1] = score[j][1];
}

/* Turns scores into weights, relative to the greatest one up to now; what was summed before is scaled down. */
INLINE void weigh(Heads *h, int rows) {
    for (int g = 0; g < 2; g++) {
        Floats greatest = h->greatest[g], total = floats(0);
        for (int j = 0; j < rows; j++) greatest = _mm256_max_ps(greatest, h->weights[j][g]);
        const Floats correction = exp_lanes(h->greatest[g] - greatest);
        for (int j = 0; j < rows; j++) {
            h->weights[j][g] = exp_lanes(h->weights[j][g] - greatest);
            total += h->weights[j][g];
        }
        h->greatest[g] = greatest;
        h->total[g] = h->total[g] * correction + total;
        for (int d = 0; d < HEAD; d++) h->sums[d][g] *= correction;
    }
}

INLINE void add_values(Heads *h, const float *v, int first, int rows) {
    Floats sum[GROUP][2];
#pragma GCC unroll 4
    for (int d = 0; d < GROUP; d++) sum[d][0] = h->sums[first + d][0], sum[d][1] = h->sums[first + d][1];
    for (int j = 0; j < rows; j++)
#pragma GCC unroll 4
        for (int d = 0; d < GROUP; d++) {
            const Floats element = floats(v[j * HEAD + first + d]);
            sum[d][0] += element * h->weights[j][0];
            sum[d][1] += element * h->weights[j][1];
        }
#pragma GCC unroll 4
    for (int d = 0; d < GROUP; d++) h->sums[first + d][0] = sum[d][0], h->sums[first + d][1] = sum[d][1];
}

void attention(const AttentionParams *params, const float *q, const float *k, const float *v, float *attended) {
    const int64_t queries = params->queries, keys = params->keys;
    const float scale = 1 / sqrtf(HEAD);
#pragma omp parallel for schedule(dynamic)
    for (int64_t start = 0; start < queries; start += QUERIES) {
        Heads h;
        for (int d = 0; d < HEAD; d++)
            for (int i = 0; i < QUERIES; i++)
                ((float *)h.query[d])[i] = scale * q[min64(start + i, queries - 1) * HEAD + d];
        memset(h.sums, 0, sizeof h.sums);
        h.greatest[0] = h.greatest[1] = floats(-3.4028234e38f);
        h.total[0] = h.total[1] = floats(0);
        for (int64_t tile = 0; tile < keys; tile += KEY_TILE) {
            const int rows = (int)min64(KEY_TILE, keys - tile);
            for (int j = 0; j < rows; j += GROUP) score_keys(&h, k + tile * HEAD, j, rows);
            weigh(&h, rows);
            for (int d = 0; d < HEAD; d += GROUP) add_values(&h, v + tile * HEAD, d, rows);
        }
        for (int i = 0; i < min64(QUERIES, queries - start); i++)
            for (int d = 0; d < HEAD; d++)
                attended[(start + i) * HEAD + d] = ((float *)h.sums[d])[i] / ((float *)h.total)[i];
    }
}

/* The even and the odd bytes as 16-bit integers, whose adjacent products are added. */
INLINE __m256i add_byte_products(__m256i sum, __m256i a_even, __m256i a_odd, __m256i b) {
    const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8), odd = _mm256_srai_epi16(b, 8);
    return _mm256_add_epi32(sum, _mm256_add_epi32(_mm256_madd_epi16(a_even, even), _mm256_madd_epi16(a_odd, odd)));
}

void matmul_bytes(const BytesSize *size, const uint32_t *a, const uint32_t *b, int32_t *c, int64_t a_count,
                  int64_t b_count, int64_t c_count) {
    (void)a_count, (void)b_count, (void)c_count;
    const int64_t m = size->m, n = size->n, words = size->words;
#pragma omp parallel for schedule(static)
    for (int64_t column = 0; column < n; column += W) {
        __m256i here = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)min64(n - column, W)),
                                          _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        for (int64_t row = 0; row < m; row += 4) {
            __m256i sum[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                              _mm256_setzero_si256()};
            for (int64_t i = 0; i < words; i++) {
                const __m256i right = _mm256_maskload_epi32((const int *)b + i * n + column, here);
#pragma GCC unroll 4
                for (int r = 0; r < 4; r++) {
                    const __m256i word = _mm256_set1_epi32((int)a[min64(row + r, m - 1) * words + i]);
                    const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(word, 8), 8);
                    sum[r] = add_byte_products(sum[r], even, _mm256_srai_epi16(word, 8), right);
                }
            }
            for (int r = 0; r < min64(4, m - row); r++)
                _mm256_maskstore_epi32(c + (row + r) * n + column, here, sum[r]);
        }
    }
}
