/* Matrices, Fourier transforms, attention, with the workgroups, barriers and indices of the WGSL. */

typedef struct { uint m, k, n; } MatmulSize;
typedef struct { uint column; float value; } Element;

kernel void matmul_naive(global const MatmulSize *size, global const float *a, global const float *b, global float *c,
                         uint c0, uint c1, uint c2) {
    uint column = get_global_id(0), row = get_global_id(1), k = size->k, n = size->n;
    if (row >= size->m || column >= n) return;
    float sum = 0;
    for (uint i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

#define TILE 16

kernel void matmul_tiled(global const MatmulSize *size, global const float *a, global const float *b, global float *c,
                         uint c0, uint c1, uint c2) {
    local float a_tile[TILE][TILE], b_tile[TILE][TILE];
    uint x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    uint m = size->m, k = size->k, n = size->n;
    float sum = 0;
    for (uint start = 0; start < k; start += TILE) {
        a_tile[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0;
        b_tile[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; i++) sum += a_tile[y][i] * b_tile[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

kernel void transpose(global const uint2 *size, global const float *matrix, global float *transposed, uint c0, uint c1) {
    local float tile[TILE][TILE + 1];
    uint x = get_local_id(0), y = get_local_id(1), columns = size->x, rows = size->y;
    uint left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    if (left + x < columns && top + y < rows) tile[y][x] = matrix[(top + y) * columns + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (top + x < rows && left + y < columns) transposed[(left + y) * rows + top + x] = tile[x][y];
}

kernel void softmax(global const uint *width, global const float *scores, global float *shares, uint c0, uint c1) {
    local float parts[32];
    uint l = get_local_id(0), columns = *width, start = get_group_id(0) * columns;
    float greatest = -3.4028234e38f, sum = 0;
    for (uint i = l; i < columns; i += 32) greatest = fmax(greatest, scores[start + i]);
    parts[l] = greatest;
    for (uint reach = 16; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < reach) parts[l] = fmax(parts[l], parts[l + reach]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    greatest = parts[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = l; i < columns; i += 32) sum += shares[start + i] = exp(scores[start + i] - greatest);
    parts[l] = sum;
    for (uint reach = 16; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < reach) parts[l] += parts[l + reach];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = l; i < columns; i += 32) shares[start + i] /= parts[0];
}

kernel void spmv(global const uint *row_starts, global const Element *elements, global const float *vector,
                 global float *product, uint c0, uint c1, uint c2, uint rows) {
    uint row = get_global_id(0);
    if (row >= rows) return;
    float sum = 0;
    for (uint i = row_starts[row]; i < row_starts[row + 1]; i++)
        sum = fma(elements[i].value, vector[elements[i].column], sum);
    product[row] = sum;
}

kernel void matmul_flat_tiles(global const MatmulSize *size, global const float *a, global const float *b,
                              global float *c, uint c0, uint c1, uint c2) {
    local float tile_a[256], tile_b[256];
    uint x = get_local_id(0), y = get_local_id(1), index = y * 16 + x, m = size->m, k = size->k, n = size->n;
    uint row = get_global_id(1), column = get_global_id(0), tiles = (k + 15) / 16;
    float sum = 0;
    for (uint tile = 0; tile < tiles; tile++) {
        uint a_column = tile * 16 + x, b_row = tile * 16 + y;
        tile_a[index] = row < m && a_column < k ? a[row * k + a_column] : 0;
        tile_b[index] = b_row < k && column < n ? b[b_row * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < 16; i++) sum = fma(tile_a[y * 16 + i], tile_b[i * 16 + x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

#define BM 64
#define BN 64
#define BK 16

kernel void matmul_blocks(global const MatmulSize *size, global const float *a, global const float *b, global float *c,
                          uint c0, uint c1, uint c2) {
    local float a_tile[BM * BK], b_tile[BK * BN];
    uint x = get_local_id(0), y = get_local_id(1), index = y * 16 + x, m = size->m, k = size->k, n = size->n;
    uint top = get_group_id(1) * BM, left = get_group_id(0) * BN;
    float sums[16] = {0};
    for (uint start = 0; start < k; start += BK) {
        for (uint i = index; i < BM * BK; i += 256) {
            uint row = top + i / BK, column = start + i % BK;
            a_tile[i] = row < m && column < k ? a[row * k + column] : 0;
        }
        for (uint i = index; i < BK * BN; i += 256) {
            uint row = start + i / BN, column = left + i % BN;
            b_tile[i] = row < k && column < n ? b[row * n + column] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint step = 0; step < BK; step++) {
            float a_part[4], b_part[4];
            for (uint i = 0; i < 4; i++) a_part[i] = a_tile[(y * 4 + i) * BK + step];
            for (uint j = 0; j < 4; j++) b_part[j] = b_tile[step * BN + x * 4 + j];
            for (uint i = 0; i < 4; i++)
                for (uint j = 0; j < 4; j++) sums[i * 4 + j] += a_part[i] * b_part[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++) {
            uint row = top + y * 4 + i, column = left + x * 4 + j;
            if (row < m && column < n) c[row * n + column] = sums[i * 4 + j];
        }
}

float4 row_times_block(float4 row, float4 b0, float4 b1, float4 b2, float4 b3) {
    return row.x * b0 + row.y * b1 + row.z * b2 + row.w * b3;
}

kernel void matmul_vec4(global const MatmulSize *size, global const float4 *a, global const float4 *b, global float4 *c,
                        uint c0, uint c1, uint c2) {
    uint column = get_global_id(0), row = get_global_id(1) * 4, m = size->m, k = size->k / 4, columns = size->n / 4;
    if (column >= columns || row >= m) return;
    float4 sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (uint step = 0; step < k; step++) {
        float4 b0 = b[4 * step * columns + column], b1 = b[(4 * step + 1) * columns + column];
        float4 b2 = b[(4 * step + 2) * columns + column], b3 = b[(4 * step + 3) * columns + column];
        sum0 += row_times_block(a[row * k + step], b0, b1, b2, b3);
        sum1 += row_times_block(a[min(row + 1, m - 1) * k + step], b0, b1, b2, b3);
        sum2 += row_times_block(a[min(row + 2, m - 1) * k + step], b0, b1, b2, b3);
        sum3 += row_times_block(a[min(row + 3, m - 1) * k + step], b0, b1, b2, b3);
    }
    c[row * columns + column] = sum0;
    if (row + 1 < m) c[(row + 1) * columns + column] = sum1;
    if (row + 2 < m) c[(row + 2) * columns + column] = sum2;
    if (row + 3 < m) c[(row + 3) * columns + column] = sum3;
}

typedef struct { uint rows, places; } EllMatrix;

kernel void spmv_ell(global const EllMatrix *matrix, global const int *columns, global const float *elements,
                     global const float *vector, global float *product, uint c0, uint c1, uint c2, uint c3) {
    uint row = get_global_id(0), rows = matrix->rows;
    if (row >= rows) return;
    float sum = 0;
    for (uint place = 0; place < matrix->places; place++) {
        int column = columns[place * rows + row];
        if (column >= 0) sum += elements[place * rows + row] * vector[column];
    }
    product[row] = sum;
}

uint reversed(uint v) {
    v = (v & 0x0f) << 4 | (v & 0xf0) >> 4;
    v = (v & 0x33) << 2 | (v & 0xcc) >> 2;
    return (v & 0x55) << 1 | (v & 0xaa) >> 1;
}

kernel void fft(global const float2 *signal, global float2 *spectrum, uint c0, uint c1) {
    local float2 work[256], twiddles[128];
    uint t = get_local_id(0), base = get_group_id(0) * 256;
    work[reversed(t)] = signal[base + t];
    work[reversed(t + 128)] = signal[base + t + 128];
    float angle = -2.0f * M_PI_F * t / 256.0f;
    twiddles[t] = (float2)(cos(angle), sin(angle));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint span = 1; span < 256; span <<= 1) {
        uint k = t & (span - 1), upper = ((t - k) << 1) + k, lower = upper + span;
        float2 u = work[upper], v = work[lower], w = twiddles[k * (128 / span)];
        v = (float2)(v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x);
        work[upper] = u + v;
        work[lower] = u - v;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    spectrum[base + t] = work[t];
    spectrum[base + t + 128] = work[t + 128];
}

#define D4 8
#define KEYS 32

typedef struct { uint queries, keys; } AttentionParams;

kernel void attention(global const AttentionParams *params, global const float4 *q, global const float4 *k,
                      global const float4 *v, global float4 *attended, uint c0, uint c1, uint c2, uint c3) {
    local float4 key_tile[KEYS][D4], value_tile[KEYS][D4];
    uint id = get_global_id(0), l = get_local_id(0), keys = params->keys;
    float scale = 1.0f / sqrt(32.0f), greatest = -3.4028234e38f, total = 0;
    float4 query[D4], sums[D4];
    for (uint d = 0; d < D4; d++) {
        query[d] = id < params->queries ? q[id * D4 + d] * scale : 0;
        sums[d] = 0;
    }
    for (uint start = 0; start < keys; start += KEYS) {
        uint rows = min((uint)KEYS, keys - start);
        for (uint i = l; i < KEYS * D4; i += 64) {
            if (i / D4 < rows) {
                key_tile[i / D4][i % D4] = k[start * D4 + i];
                value_tile[i / D4][i % D4] = v[start * D4 + i];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        float scores[KEYS], tile_greatest = greatest;
        for (uint j = 0; j < rows; j++) {
            float score = 0;
            for (uint d = 0; d < D4; d++) score += dot(query[d], key_tile[j][d]);
            scores[j] = score;
            tile_greatest = fmax(tile_greatest, score);
        }
        float correction = exp(greatest - tile_greatest);
        total *= correction;
        for (uint d = 0; d < D4; d++) sums[d] *= correction;
        for (uint j = 0; j < rows; j++) {
            float weight = exp(scores[j] - tile_greatest);
            total += weight;
            for (uint d = 0; d < D4; d++) sums[d] += weight * value_tile[j][d];
        }
        greatest = tile_greatest;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id < params->queries)
        for (uint d = 0; d < D4; d++) attended[id * D4 + d] = sums[d] / total;
}

kernel void spmv_lanes(global const uint *row_starts, global const uint *columns, global const float *elements,
                       global const float *vector, global float *product, uint c0, uint c1, uint c2, uint c3,
                       uint rows) {
    local float sums[128];
    uint l = get_local_id(0), lane = l % 32, row = get_group_id(0) * 4 + l / 32;
    float sum = 0;
    if (row < rows)
        for (uint i = row_starts[row] + lane; i < row_starts[row + 1]; i += 32) sum += elements[i] * vector[columns[i]];
    sums[l] = sum;
    for (uint width = 16; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width) sums[l] += sums[l + width];
    }
    if (lane == 0 && row < rows) product[row] = sums[l];
}

typedef struct { uint m, words, n; } BytesSize;

kernel void matmul_bytes(global const BytesSize *size, global const char4 *a, global const char4 *b, global int *c,
                         uint c0, uint c1, uint c2) {
    local char4 a_tile[16][16], b_tile[16][16];
    uint x = get_global_id(0), y = get_global_id(1), u = get_local_id(0), v = get_local_id(1);
    uint words = size->words, n = size->n;
    int sum = 0;
    for (uint start = 0; start < words; start += 16) {
        a_tile[v][u] = y < size->m && start + u < words ? a[y * words + start + u] : (char4)(0);
        b_tile[v][u] = x < n && start + v < words ? b[(start + v) * n + x] : (char4)(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < 16; i++) {
            int4 products = convert_int4(a_tile[v][i]) * convert_int4(b_tile[i][u]);
            sum += products.x + products.y + products.z + products.w;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (y < size->m && x < n) c[y * n + x] = sum;
}
