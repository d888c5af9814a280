/* Matrices, Fourier transforms, attention, in plain loops as one first writes them. */
#include "../kernels.h"

void matmul_naive(const MatmulSize *size, const float *a, const float *b, float *c) {
    const int64_t m = size->m, k = size->k, n = size->n;
#pragma omp parallel for
    for (int64_t row = 0; row < m; row++) {
        float *to = c + row * n;
        memset(to, 0, n * sizeof *to);
        for (int64_t i = 0; i < k; i++)
            for (int64_t column = 0; column < n; column++) to[column] += a[row * k + i] * b[i * n + column];
    }
}

void matmul_tiled(const MatmulSize *size, const float *a, const float *b, float *c) {
    enum { TILE = 64 };
    const int64_t m = size->m, k = size->k, n = size->n;
#pragma omp parallel for collapse(2)
    for (int64_t top = 0; top < m; top += TILE) {
        for (int64_t left = 0; left < n; left += TILE) {
            const int64_t bottom = min64(top + TILE, m), right = min64(left + TILE, n);
            for (int64_t row = top; row < bottom; row++) memset(c + row * n + left, 0, (right - left) * sizeof *c);
            for (int64_t start = 0; start < k; start += TILE) {
                const int64_t end = min64(start + TILE, k);
                for (int64_t row = top; row < bottom; row++)
                    for (int64_t i = start; i < end; i++)
                        for (int64_t column = left; column < right; column++)
                            c[row * n + column] += a[row * k + i] * b[i * n + column];
            }
        }
    }
}

void transpose(const uint32_t *size, const float *matrix, float *transposed, int64_t count, int64_t transposed_count) {
    enum { TILE = 16 };
    (void)count, (void)transposed_count;
    const int64_t columns = size[0], rows = size[1];
#pragma omp parallel for collapse(2)
    for (int64_t top = 0; top < rows; top += TILE)
        for (int64_t left = 0; left < columns; left += TILE)
            for (int64_t column = left; column < min64(left + TILE, columns); column++)
                for (int64_t row = top; row < min64(top + TILE, rows); row++)
                    transposed[column * rows + row] = matrix[row * columns + column];
}

void softmax(const uint32_t *columns, const float *scores, float *shares, int64_t count, int64_t share_count) {
    (void)share_count;
    const int64_t width = *columns, rows = count / width;
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        const float *from = scores + row * width;
        float *to = shares + row * width;
        float greatest = from[0], sum = 0;
        for (int64_t i = 1; i < width; i++) greatest = from[i] > greatest ? from[i] : greatest;
        for (int64_t i = 0; i < width; i++) sum += to[i] = expf(from[i] - greatest);
        for (int64_t i = 0; i < width; i++) to[i] /= sum;
    }
}

void spmv(const uint32_t *row_starts, const Element *elements, const float *vector, float *product, int64_t start_count,
          int64_t element_count, int64_t vector_count, int64_t rows) {
    (void)start_count, (void)element_count, (void)vector_count;
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        float sum = 0;
        for (uint32_t i = row_starts[row]; i < row_starts[row + 1]; i++)
            sum += elements[i].value * vector[elements[i].column];
        product[row] = sum;
    }
}

void matmul_flat_tiles(const MatmulSize *size, const float *a, const float *b, float *c) { matmul_tiled(size, a, b, c); }

void matmul_blocks(const MatmulSize *size, const float *a, const float *b, float *c) { matmul_tiled(size, a, b, c); }

void matmul_vec4(const MatmulSize *size, const float *a, const float *b, float *c) { matmul_tiled(size, a, b, c); }

void spmv_ell(const EllMatrix *matrix, const int32_t *columns, const float *elements, const float *vector,
              float *product) {
    const int64_t rows = matrix->rows, places = matrix->places;
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        float sum = 0;
        for (int64_t at = row; at < places * rows; at += rows)
            if (columns[at] >= 0) sum += elements[at] * vector[columns[at]];
        product[row] = sum;
    }
}

/* Radix 2, decimation in time; the factors are computed once. */
void fft(const float *signal, float *spectrum, int64_t count) {
    enum { N = FFT_POINTS, LOG_N = 8 };
    float cosines[N / 2], sines[N / 2];
    for (int i = 0; i < N / 2; i++) cosines[i] = cosf(-6.2831853f * i / N), sines[i] = sinf(-6.2831853f * i / N);
#pragma omp parallel for
    for (int64_t row = 0; row < count / N; row++) {
        float re[N], im[N];
        for (int i = 0; i < N; i++) {
            int to = 0;
            for (int bit = 0; bit < LOG_N; bit++) to |= (i >> bit & 1) << (LOG_N - 1 - bit);
            re[to] = signal[2 * (row * N + i)];
            im[to] = signal[2 * (row * N + i) + 1];
        }
        for (int span = 1; span < N; span *= 2) {
            for (int start = 0; start < N; start += 2 * span) {
                for (int k = 0; k < span; k++) {
                    const int upper = start + k, lower = upper + span;
                    const float c = cosines[k * (N / 2 / span)], s = sines[k * (N / 2 / span)];
                    const float x = re[lower] * c - im[lower] * s, y = re[lower] * s + im[lower] * c;
                    re[lower] = re[upper] - x, im[lower] = im[upper] - y;
                    re[upper] += x, im[upper] += y;
                }
            }
        }
        for (int i = 0; i < N; i++) spectrum[2 * (row * N + i)] = re[i], spectrum[2 * (row * N + i) + 1] = im[i];
    }
}

void attention(const AttentionParams *params, const float *q, const float *k, const float *v, float *attended) {
    enum { TILE = 32 };
    const int64_t queries = params->queries, keys = params->keys;
    const float scale = 1 / sqrtf(HEAD);
#pragma omp parallel for
    for (int64_t row = 0; row < queries; row++) {
        float sums[HEAD] = {0}, greatest = -3.4028234e38f, total = 0;
        for (int64_t start = 0; start < keys; start += TILE) {
            const int64_t end = min64(start + TILE, keys);
            float scores[TILE], most = greatest;
            for (int64_t key = start; key < end; key++) {
                float score = 0;
#pragma omp simd reduction(+ : score)
                for (int d = 0; d < HEAD; d++) score += q[row * HEAD + d] * k[key * HEAD + d];
                scores[key - start] = score * scale;
                most = most > score * scale ? most : score * scale;
            }
            const float correction = expf(greatest - most);
            greatest = most;
            total *= correction;
            for (int d = 0; d < HEAD; d++) sums[d] *= correction;
            for (int64_t key = start; key < end; key++) {
                const float weight = expf(scores[key - start] - greatest);
                total += weight;
                for (int d = 0; d < HEAD; d++) sums[d] += weight * v[key * HEAD + d];
            }
        }
        for (int d = 0; d < HEAD; d++) attended[row * HEAD + d] = sums[d] / total;
    }
}

void spmv_lanes(const uint32_t *row_starts, const uint32_t *columns, const float *elements, const float *vector,
                float *product, int64_t start_count, int64_t column_count, int64_t element_count, int64_t vector_count,
                int64_t rows) {
    (void)start_count, (void)column_count, (void)element_count, (void)vector_count;
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        float sum = 0;
        for (uint32_t i = row_starts[row]; i < row_starts[row + 1]; i++) sum += elements[i] * vector[columns[i]];
        product[row] = sum;
    }
}

void matmul_bytes(const BytesSize *size, const uint32_t *a, const uint32_t *b, int32_t *c, int64_t a_count,
                  int64_t b_count, int64_t c_count) {
    (void)a_count, (void)b_count, (void)c_count;
    const int64_t n = size->n, words = size->words;
    const int8_t *left = (const int8_t *)a, *right = (const int8_t *)b;
#pragma omp parallel for
    for (int64_t row = 0; row < size->m; row++) {
        for (int64_t j = 0; j < n; j++) c[row * n + j] = 0;
        for (int64_t i = 0; i < words; i++)
            for (int64_t j = 0; j < n; j++)
                for (int k = 0; k < 4; k++) c[row * n + j] += left[4 * (row * words + i) + k] * right[4 * (i * n + j) + k];
    }
}
