/* Matrices, Fourier transforms, attention; see parts.isph. */
#include "parts.isph"

struct MatmulSize { uint32 m, k, n; };

task void matmul_naive_rows(const uniform MatmulSize *uniform size, const uniform float a[], const uniform float b[],
                            uniform float c[]) {
    uniform int k = size->k, n = size->n;
    for (uniform int row = BEGIN(8); row < END(size->m, 8); row++) {
        foreach (column = 0 ... n) {
            float sum = 0;
            for (uniform int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
            c[row * n + column] = sum;
        }
    }
}

export void matmul_naive(const uniform MatmulSize *uniform size, const uniform float a[], const uniform float b[],
                         uniform float c[]) {
    launch[PARTS(size->m, 8)] matmul_naive_rows(size, a, b, c);
}

static const uniform int TILE = 16;

task void matmul_tiled_rows(const uniform MatmulSize *uniform size, const uniform float a[], const uniform float b[],
                            uniform float c[]) {
    uniform int m = size->m, k = size->k, n = size->n, top = BEGIN(TILE);
    uniform float a_tile[TILE][TILE], b_tile[TILE][TILE], sums[TILE][TILE];
    for (uniform int left = 0; left < n; left += TILE) {
        for (uniform int y = 0; y < TILE; y++)
            foreach (x = 0 ... TILE) sums[y][x] = 0;
        for (uniform int start = 0; start < k; start += TILE) {
            for (uniform int y = 0; y < TILE; y++) {
                foreach (x = 0 ... TILE) {
                    a_tile[y][x] = 0;
                    b_tile[y][x] = 0;
                    if (top + y < m && start + x < k) a_tile[y][x] = a[(top + y) * k + start + x];
                    if (start + y < k && left + x < n) b_tile[y][x] = b[(start + y) * n + left + x];
                }
            }
            for (uniform int y = 0; y < TILE; y++) {
                foreach (x = 0 ... TILE) {
                    float sum = sums[y][x];
                    for (uniform int i = 0; i < TILE; i++) sum += a_tile[y][i] * b_tile[i][x];
                    sums[y][x] = sum;
                }
            }
        }
        for (uniform int y = top; y < min(top + TILE, m); y++)
            foreach (x = left ... min(left + TILE, n)) c[y * n + x] = sums[y - top][x - left];
    }
}

export void matmul_tiled(const uniform MatmulSize *uniform size, const uniform float a[], const uniform float b[],
                         uniform float c[]) {
    launch[PARTS(size->m, TILE)] matmul_tiled_rows(size, a, b, c);
}

export void matmul_flat_tiles(const uniform MatmulSize *uniform size, const uniform float a[], const uniform float b[],
                              uniform float c[]) {
    launch[PARTS(size->m, TILE)] matmul_tiled_rows(size, a, b, c);
}

struct EllMatrix { uint32 rows, places; };

task void spmv_ell_rows(const uniform EllMatrix *uniform matrix, const uniform int32 columns[],
                        const uniform float elements[], const uniform float vector[], uniform float product[]) {
    uniform int rows = matrix->rows, places = matrix->places;
    foreach (row = BEGIN(1024) ... END(rows, 1024)) {
        float sum = 0;
        for (uniform int place = 0; place < places; place++) {
            int column = columns[place * rows + row];
            if (column >= 0) sum += elements[place * rows + row] * vector[column];
        }
        product[row] = sum;
    }
}

export void spmv_ell(const uniform EllMatrix *uniform matrix, const uniform int32 columns[],
                     const uniform float elements[], const uniform float vector[], uniform float product[]) {
    launch[PARTS(matrix->rows, 1024)] spmv_ell_rows(matrix, columns, elements, vector, product);
}

struct AttentionParams { uint32 queries, keys; };

static const uniform int HEAD = 32, KEYS = 32;

task void attention_queries(const uniform AttentionParams *uniform params, const uniform float q[],
                            const uniform float k[], const uniform float v[], uniform float attended[]) {
    uniform int keys = params->keys;
    foreach (i = BEGIN(64) ... END(params->queries, 64)) {
        float query[HEAD], sums[HEAD], scores[KEYS], greatest = -3.4028234e38f, total = 0;
        for (uniform int d = 0; d < HEAD; d++) {
            query[d] = q[i * HEAD + d] * (1 / sqrt((uniform float)HEAD));
            sums[d] = 0;
        }
        for (uniform int start = 0; start < keys; start += KEYS) {
            uniform int rows = min(KEYS, keys - start);
            float most = greatest;
            for (uniform int j = 0; j < rows; j++) {
                float score = 0;
                for (uniform int d = 0; d < HEAD; d++) score += query[d] * k[(start + j) * HEAD + d];
                scores[j] = score;
                most = max(most, score);
            }
            float correction = exp(greatest - most);
            greatest = most;
            total *= correction;
            for (uniform int d = 0; d < HEAD; d++) sums[d] *= correction;
            for (uniform int j = 0; j < rows; j++) {
                float weight = exp(scores[j] - greatest);
                total += weight;
                for (uniform int d = 0; d < HEAD; d++) sums[d] += weight * v[(start + j) * HEAD + d];
            }
        }
        for (uniform int d = 0; d < HEAD; d++) attended[i * HEAD + d] = sums[d] / total;
    }
}

export void attention(const uniform AttentionParams *uniform params, const uniform float q[], const uniform float k[],
                      const uniform float v[], uniform float attended[]) {
    launch[PARTS(params->queries, 64)] attention_queries(params, q, k, v, attended);
}
