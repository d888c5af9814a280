/* Matrices, Fourier transforms, attention; see lanes.h. */
#include "lanes.h"

/* Matrix products: panels of b, 64 columns wide, are copied together; 6 x 64 elements of c stay in registers */

enum { ROWS = 6, VECTORS = 4, COLUMNS = VECTORS * W, DEPTH = 512, ROW_CHUNK = 16 * ROWS };

INLINE void tile(int rows, int64_t depth, const float *a, int64_t a_stride, const float *panel, float *c,
                 int64_t c_stride, int64_t columns, int adds) {
    __m512 sum[ROWS][VECTORS];
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            sum[r][v] = adds ? _mm512_maskz_loadu_ps(lanes_left(columns - v * W), c + r * c_stride + v * W)
                             : _mm512_setzero_ps();
    for (int64_t i = 0; i < depth; i++) {
        __m512 b[VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++) b[v] = _mm512_load_ps(panel + i * COLUMNS + v * W);
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) {
            const __m512 factor = _mm512_set1_ps(a[r * a_stride + i]);
#pragma GCC unroll 4
            for (int v = 0; v < VECTORS; v++) sum[r][v] = _mm512_fmadd_ps(factor, b[v], sum[r][v]);
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            _mm512_mask_storeu_ps(c + r * c_stride + v * W, lanes_left(columns - v * W), sum[r][v]);
}

static void strip(int64_t rows, int64_t depth, const float *a, int64_t a_stride, const float *panel, float *c,
                  int64_t c_stride, int64_t columns, int adds) {
    for (; rows >= ROWS; rows -= ROWS, a += ROWS * a_stride, c += ROWS * c_stride)
        tile(ROWS, depth, a, a_stride, panel, c, c_stride, columns, adds);
    for (; rows > 0; rows--, a += a_stride, c += c_stride) tile(1, depth, a, a_stride, panel, c, c_stride, columns, adds);
}

static void matmul(const MatmulSize *size, const float *a, const float *b, float *c) {
    const int64_t m = size->m, k = size->k, n = size->n;
    const int64_t panels = (n + COLUMNS - 1) / COLUMNS, chunks = (m + ROW_CHUNK - 1) / ROW_CHUNK;
    float *packed = _mm_malloc(panels * k * COLUMNS * sizeof *packed, 64);
#pragma omp parallel
    {
#pragma omp for schedule(static) collapse(2)
        for (int64_t panel = 0; panel < panels; panel++)
            for (int64_t i = 0; i < k; i++)
                for (int v = 0; v < VECTORS; v++) {
                    const int64_t column = panel * COLUMNS + v * W;
                    const __m512 part = _mm512_maskz_loadu_ps(lanes_left(n - column), b + i * n + column);
                    _mm512_store_ps(packed + (panel * k + i) * COLUMNS + v * W, part);
                }
#pragma omp for schedule(dynamic) collapse(2)
        for (int64_t panel = 0; panel < panels; panel++)
            for (int64_t chunk = 0; chunk < chunks; chunk++) {
                const int64_t top = chunk * ROW_CHUNK, left = panel * COLUMNS;
                for (int64_t start = 0; start < k; start += DEPTH)
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
    const int64_t width = *columns, rows = count / width;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        const float *from = scores + row * width;
        float *to = shares + row * width;
        __m512 greatest = _mm512_set1_ps(from[0]), sum = _mm512_setzero_ps();
        for (int64_t i = 0; i < width; i += W)
            greatest = _mm512_mask_max_ps(greatest, lanes_left(width - i), greatest,
                                          _mm512_maskz_loadu_ps(lanes_left(width - i), from + i));
        greatest = _mm512_set1_ps(_mm512_reduce_max_ps(greatest));
        for (int64_t i = 0; i < width; i += W) {
            const __mmask16 here = lanes_left(width - i);
            const __m512 weight = _ZGVeN16v_expf(_mm512_sub_ps(_mm512_maskz_loadu_ps(here, from + i), greatest));
            _mm512_mask_storeu_ps(to + i, here, weight);
            sum = _mm512_mask_add_ps(sum, here, sum, weight);
        }
        const __m512 inverse = _mm512_set1_ps(1 / _mm512_reduce_add_ps(sum));
        for (int64_t i = 0; i < width; i += W) {
            const __mmask16 here = lanes_left(width - i);
            _mm512_mask_storeu_ps(to + i, here, _mm512_mul_ps(_mm512_maskz_loadu_ps(here, to + i), inverse));
        }
    }
}

void spmv(const uint32_t *row_starts, const Element *elements, const float *vector, float *product, int64_t start_count,
          int64_t element_count, int64_t vector_count, int64_t rows) {
    const __m512i columns = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i values = _mm512_add_epi32(columns, _mm512_set1_epi32(1));
    (void)start_count, (void)element_count, (void)vector_count;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        const int64_t end = row_starts[row + 1];
        __m512 sum = _mm512_setzero_ps();
        for (int64_t i = row_starts[row]; i < end; i += W) {
            const float *pairs = (const float *)(elements + i);
            const __m512 low = _mm512_maskz_loadu_ps(lanes_left(2 * (end - i)), pairs);
            const __m512 high = _mm512_maskz_loadu_ps(lanes_left(2 * (end - i) - W), pairs + W);
            const __m512i column = _mm512_castps_si512(_mm512_permutex2var_ps(low, columns, high));
            const __m512 value = _mm512_permutex2var_ps(low, values, high);
            const __m512 factor = _mm512_mask_i32gather_ps(sum, lanes_left(end - i), column, vector, 4);
            sum = _mm512_mask3_fmadd_ps(value, factor, sum, lanes_left(end - i));
        }
        product[row] = _mm512_reduce_add_ps(sum);
    }
}

INLINE void transpose_tile(const float *from, int64_t from_stride, float *to, int64_t to_stride) {
    __m512i row[W];
#pragma GCC unroll 16
    for (int r = 0; r < W; r++) row[r] = _mm512_loadu_si512(from + r * from_stride);
    transpose_registers(row);
#pragma GCC unroll 16
    for (int r = 0; r < W; r++) _mm512_storeu_si512(to + r * to_stride, row[r]);
}

void transpose(const uint32_t *size, const float *matrix, float *transposed) {
    const int64_t columns = size[0], rows = size[1];
    const int64_t whole_columns = columns / W * W, whole_rows = rows / W * W;
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (int64_t left = 0; left < whole_columns; left += W)
            for (int64_t top = 0; top < whole_rows; top += W)
                transpose_tile(matrix + top * columns + left, columns, transposed + left * rows + top, rows);
#pragma omp for schedule(static)
        for (int64_t row = 0; row < rows; row++)
            for (int64_t column = row < whole_rows ? whole_columns : 0; column < columns; column++)
                transposed[column * rows + row] = matrix[row * columns + column];
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
                const __mmask16 here = lanes_left(length - i);
                const __m512i column = _mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), here, columns + at + i);
                const __mmask16 full = _mm512_cmpge_epi32_mask(column, _mm512_setzero_si512());
                const __m512 factor = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), full, column, vector, 4);
                const __m512 element = _mm512_maskz_loadu_ps(full, elements + at + i);
                _mm_prefetch((const char *)(columns + at + rows + i), _MM_HINT_T0);
                _mm_prefetch((const char *)(elements + at + rows + i), _MM_HINT_T0);
                _mm512_store_ps(sums + i, _mm512_fmadd_ps(element, factor, _mm512_load_ps(sums + i)));
            }
        }
        memcpy(product + start, sums, length * sizeof *sums);
    }
}

/* Fourier transforms of 256 points as 16 x 16: transforms of the columns, whose lanes lie side by side, factors, and
   transforms of the rows, after turning. Each of those is 4 x 4 once more, in registers. */

typedef struct { __m512 re, im; } Complex;

INLINE Complex add(Complex a, Complex b) { return (Complex){_mm512_add_ps(a.re, b.re), _mm512_add_ps(a.im, b.im)}; }

INLINE Complex subtract(Complex a, Complex b) { return (Complex){_mm512_sub_ps(a.re, b.re), _mm512_sub_ps(a.im, b.im)}; }

INLINE Complex times(Complex a, __m512 re, __m512 im) {
    const __m512 product = _mm512_mul_ps(a.im, im), cross = _mm512_mul_ps(a.im, re);
    return (Complex){_mm512_fmsub_ps(a.re, re, product), _mm512_fmadd_ps(a.re, im, cross)};
}

/* Four points, `step` apart. */
INLINE void fourier_4(Complex *x, int step) {
    const Complex a = add(x[0], x[2 * step]), b = subtract(x[0], x[2 * step]);
    const Complex c = add(x[step], x[3 * step]), d = subtract(x[step], x[3 * step]);
    x[0] = add(a, c);
    x[2 * step] = subtract(a, c);
    x[step] = (Complex){_mm512_add_ps(b.re, d.im), _mm512_sub_ps(b.im, d.re)};
    x[3 * step] = (Complex){_mm512_sub_ps(b.re, d.im), _mm512_add_ps(b.im, d.re)};
}

/* Sixteen points: the transform's element k1 + 4 * k2 is left in x[4 * k1 + k2]. */
INLINE void fourier_16(Complex x[W]) {
    static const float cosines[10] = {1, 0.92387953f, 0.70710678f, 0.38268343f, 0, 0, -0.70710678f, 0, 0, -0.92387953f};
    static const float sines[10] = {0, -0.38268343f, -0.70710678f, -0.92387953f, -1, 0, -0.70710678f, 0, 0, 0.38268343f};
#pragma GCC unroll 4
    for (int n = 0; n < 4; n++) fourier_4(x + n, 4);
#pragma GCC unroll 3
    for (int k = 1; k < 4; k++)
#pragma GCC unroll 3
        for (int n = 1; n < 4; n++)
            x[4 * k + n] = times(x[4 * k + n], _mm512_set1_ps(cosines[k * n]), _mm512_set1_ps(sines[k * n]));
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) fourier_4(x + 4 * k, 1);
}

INLINE int fourier_place(int k) { return k % 4 * 4 + k / 4; }

INLINE void transpose_complex(Complex x[W]) {
    __m512i re[W], im[W];
#pragma GCC unroll 16
    for (int r = 0; r < W; r++) re[r] = _mm512_castps_si512(x[fourier_place(r)].re);
    transpose_registers(re);
#pragma GCC unroll 16
    for (int r = 0; r < W; r++) im[r] = _mm512_castps_si512(x[fourier_place(r)].im);
    transpose_registers(im);
#pragma GCC unroll 16
    for (int r = 0; r < W; r++) x[r] = (Complex){_mm512_castsi512_ps(re[r]), _mm512_castsi512_ps(im[r])};
}

void fft(const float *signal, float *spectrum, int64_t count) {
    const __m512i even = _mm512_slli_epi32(lane_numbers(), 1), odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    const __m512i half = _mm512_srli_epi32(lane_numbers(), 1);
    const __m512i low = _mm512_mask_add_epi32(half, 0xaaaa, half, _mm512_set1_epi32(W));
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(W / 2));
    _Alignas(64) float cosines[W][W], sines[W][W];
    for (int k = 0; k < W; k++)
        for (int n = 0; n < W; n++) {
            cosines[k][n] = (float)cos(-2 * 3.14159265358979 * k * n / FFT_POINTS);
            sines[k][n] = (float)sin(-2 * 3.14159265358979 * k * n / FFT_POINTS);
        }
#pragma omp parallel for schedule(static)
    for (int64_t start = 0; start < 2 * count; start += 2 * FFT_POINTS) {
        Complex x[W];
#pragma GCC unroll 16
        for (int r = 0; r < W; r++) {
            const __m512 first = _mm512_loadu_ps(signal + start + 2 * W * r);
            const __m512 second = _mm512_loadu_ps(signal + start + 2 * W * r + W);
            x[r] = (Complex){_mm512_permutex2var_ps(first, even, second), _mm512_permutex2var_ps(first, odd, second)};
        }
        fourier_16(x);
#pragma GCC unroll 16
        for (int k = 0; k < W; k++)
            x[fourier_place(k)] = times(x[fourier_place(k)], _mm512_load_ps(cosines[k]), _mm512_load_ps(sines[k]));
        transpose_complex(x);
        fourier_16(x);
#pragma GCC unroll 16
        for (int k = 0; k < W; k++) {
            const Complex it = x[fourier_place(k)];
            _mm512_storeu_ps(spectrum + start + 2 * W * k, _mm512_permutex2var_ps(it.re, low, it.im));
            _mm512_storeu_ps(spectrum + start + 2 * W * k + W, _mm512_permutex2var_ps(it.re, high, it.im));
        }
    }
}

/* Attention: lanes are queries, 32 at a time. Scores of eight keys, and sums of eight dimensions, are registers. */

enum { QUERIES = 2 * W, KEY_TILE = 64, GROUP = 8 };

typedef struct {
    __m512 query[HEAD][2], sums[HEAD][2], weights[KEY_TILE][2], greatest[2], total[2];
} Heads;

INLINE void score_keys(Heads *h, const float *k, int first, int rows) {
    __m512 score[GROUP][2];
#pragma GCC unroll 8
    for (int j = 0; j < GROUP; j++) score[j][0] = score[j][1] = _mm512_setzero_ps();
    for (int d = 0; d < HEAD; d++)
#pragma GCC unroll 8
        for (int j = 0; j < GROUP; j++) {
            const __m512 element = _mm512_set1_ps(k[min64(first + j, rows - 1) * HEAD + d]);
            score[j][0] = _mm512_fmadd_ps(element, h->query[d][0], score[j][0]);
            score[j][1] = _mm512_fmadd_ps(element, h->query[d][1], score[j][1]);
        }
#pragma GCC unroll 8
    for (int j = 0; j < GROUP; j++)
#pragma GCC unroll 2
        for (int g = 0; g < 2; g++) h->weights[first + j][g] = score[j][g];
}

/* Turns scores into weights, relative to the greatest one up to now; what was summed before is scaled down. */
INLINE void weigh(Heads *h, int rows) {
    for (int g = 0; g < 2; g++) {
        __m512 greatest = h->greatest[g], total = _mm512_setzero_ps();
        for (int j = 0; j < rows; j++) greatest = _mm512_max_ps(greatest, h->weights[j][g]);
        const __m512 correction = exp_lanes(_mm512_sub_ps(h->greatest[g], greatest));
        for (int j = 0; j < rows; j++) {
            h->weights[j][g] = exp_lanes(_mm512_sub_ps(h->weights[j][g], greatest));
            total = _mm512_add_ps(total, h->weights[j][g]);
        }
        h->greatest[g] = greatest;
        h->total[g] = _mm512_fmadd_ps(h->total[g], correction, total);
        for (int d = 0; d < HEAD; d++) h->sums[d][g] = _mm512_mul_ps(h->sums[d][g], correction);
    }
}

INLINE void add_values(Heads *h, const float *v, int first, int rows) {
    __m512 sum[GROUP][2];
#pragma GCC unroll 8
    for (int d = 0; d < GROUP; d++)
#pragma GCC unroll 2
        for (int g = 0; g < 2; g++) sum[d][g] = h->sums[first + d][g];
    for (int j = 0; j < rows; j++)
#pragma GCC unroll 8
        for (int d = 0; d < GROUP; d++) {
            const __m512 element = _mm512_set1_ps(v[j * HEAD + first + d]);
            sum[d][0] = _mm512_fmadd_ps(element, h->weights[j][0], sum[d][0]);
            sum[d][1] = _mm512_fmadd_ps(element, h->weights[j][1], sum[d][1]);
        }
#pragma GCC unroll 8
    for (int d = 0; d < GROUP; d++)
#pragma GCC unroll 2
        for (int g = 0; g < 2; g++) h->sums[first + d][g] = sum[d][g];
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
        h.greatest[0] = h.greatest[1] = _mm512_set1_ps(-3.4028234e38f);
        h.total[0] = h.total[1] = _mm512_setzero_ps();
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

void spmv_lanes(const uint32_t *row_starts, const uint32_t *columns, const float *elements, const float *vector,
                float *product, int64_t start_count, int64_t column_count, int64_t element_count, int64_t vector_count,
                int64_t rows) {
    (void)start_count, (void)column_count, (void)element_count, (void)vector_count;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        const int64_t end = row_starts[row + 1];
        __m512 sum = _mm512_setzero_ps();
        for (int64_t i = row_starts[row]; i < end; i += W) {
            const __mmask16 here = lanes_left(end - i);
            const __m512i column = _mm512_maskz_loadu_epi32(here, columns + i);
            const __m512 factor = _mm512_mask_i32gather_ps(sum, here, column, vector, 4);
            sum = _mm512_mask3_fmadd_ps(_mm512_maskz_loadu_ps(here, elements + i), factor, sum, here);
        }
        product[row] = _mm512_reduce_add_ps(sum);
    }
}

/* Sums of four products of bytes, 4 x 64 of them in registers. Where one operand must be unsigned, 128 is added to it,
   and 128 times the sum of the other one taken off again. */
INLINE __m512i add_products(__m512i sum, __m512i unsigned_bytes, __m512i signed_bytes) {
#ifdef __AVX512VNNI__
    return _mm512_dpbusd_epi32(sum, unsigned_bytes, signed_bytes);
#else
    const __m512i even = _mm512_and_si512(unsigned_bytes, _mm512_set1_epi16(255));
    const __m512i odd = _mm512_srli_epi16(unsigned_bytes, 8);
    const __m512i low = _mm512_srai_epi16(_mm512_slli_epi16(signed_bytes, 8), 8);
    const __m512i high = _mm512_srai_epi16(signed_bytes, 8);
    return _mm512_add_epi32(sum, _mm512_add_epi32(_mm512_madd_epi16(even, low), _mm512_madd_epi16(odd, high)));
#endif
}

void matmul_bytes(const BytesSize *size, const uint32_t *a, const uint32_t *b, int32_t *c, int64_t a_count,
                  int64_t b_count, int64_t c_count) {
    (void)a_count, (void)b_count, (void)c_count;
    const int64_t m = size->m, n = size->n, words = size->words;
    const __m512i flip = _mm512_set1_epi8(-128);
#pragma omp parallel for schedule(static)
    for (int64_t column = 0; column < n; column += 4 * W) {
        __m512i offset[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                             _mm512_setzero_si512()};
        for (int64_t i = 0; i < words; i++)
#pragma GCC unroll 4
            for (int v = 0; v < 4; v++)
                offset[v] = add_products(offset[v], flip,
                                         _mm512_maskz_loadu_epi32(lanes_left(n - column - v * W), b + i * n + column + v * W));
        for (int64_t row = 0; row < m; row += 4) {
            __m512i sum[4][4];
#pragma GCC unroll 4
            for (int r = 0; r < 4; r++)
#pragma GCC unroll 4
                for (int v = 0; v < 4; v++) sum[r][v] = _mm512_setzero_si512();
            for (int64_t i = 0; i < words; i++) {
                __m512i right[4];
#pragma GCC unroll 4
                for (int v = 0; v < 4; v++)
                    right[v] = _mm512_maskz_loadu_epi32(lanes_left(n - column - v * W), b + i * n + column + v * W);
#pragma GCC unroll 4
                for (int r = 0; r < 4; r++) {
                    const uint32_t word = a[min64(row + r, m - 1) * words + i] ^ 0x80808080u;
#pragma GCC unroll 4
                    for (int v = 0; v < 4; v++) sum[r][v] = add_products(sum[r][v], _mm512_set1_epi32((int)word), right[v]);
                }
            }
            for (int r = 0; r < min64(4, m - row); r++)
                for (int v = 0; v < 4; v++)
                    _mm512_mask_storeu_epi32(c + (row + r) * n + column + v * W, lanes_left(n - column - v * W),
                                             _mm512_sub_epi32(sum[r][v], offset[v]));
        }
    }
}
