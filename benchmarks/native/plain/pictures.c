/* Pictures, in plain loops as one first writes them. */
#include "../kernels.h"

void blur(const uint32_t *size, const float *source, float *blurred, int64_t source_count, int64_t blurred_count) {
    static const float weights[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
    (void)source_count, (void)blurred_count;
    const int64_t width = size[0], height = size[1];
#pragma omp parallel for
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            float sum = 0;
            for (int dy = -1; dy <= 1; dy++) {
                const int64_t row = min64(max64(y + dy, 0), height - 1);
                for (int dx = -1; dx <= 1; dx++) {
                    const int64_t column = min64(max64(x + dx, 0), width - 1);
                    sum += weights[dy + 1][dx + 1] / 16 * source[row * width + column];
                }
            }
            blurred[y * width + x] = sum;
        }
    }
}

void life(const int32_t *size, const uint32_t *cells, uint32_t *next_cells, int64_t cell_count, int64_t next_count) {
    (void)cell_count, (void)next_count;
    const int64_t width = size[0], height = size[1];
#pragma omp parallel for
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            uint32_t neighbours = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    if (dx || dy) neighbours += cells[(y + dy + height) % height * width + (x + dx + width) % width];
            next_cells[y * width + x] = neighbours == 3 || (neighbours == 2 && cells[y * width + x]);
        }
    }
}

void convolve_rows(const int32_t *size, const float *weights, const float *source, float *result) {
    const int64_t width = size[0], height = size[1];
#pragma omp parallel for
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            float sum = 0;
            for (int i = 0; i < TAPS; i++)
                sum += weights[i] * source[y * width + min64(max64(x + i - CONVOLVE_RADIUS, 0), width - 1)];
            result[y * width + x] = sum;
        }
    }
}

void convolve_columns(const int32_t *size, const float *weights, const float *source, float *result) {
    const int64_t width = size[0], height = size[1];
#pragma omp parallel for
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            float sum = 0;
            for (int i = 0; i < TAPS; i++)
                sum += weights[i] * source[min64(max64(y + i - CONVOLVE_RADIUS, 0), height - 1) * width + x];
            result[y * width + x] = sum;
        }
    }
}

void bilateral(const Filter *params, const float *image, float *filtered) {
    enum { R = BILATERAL_RADIUS };
    const int64_t width = params->size[0], height = params->size[1];
    const float nearness = params->nearness, likeness = params->likeness;
#pragma omp parallel for
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            const float centre = image[y * width + x];
            float weights = 0, sum = 0;
            for (int dy = -R; dy <= R; dy++) {
                const float *row = image + min64(max64(y + dy, 0), height - 1) * width;
                for (int dx = -R; dx <= R; dx++) {
                    const float value = row[min64(max64(x + dx, 0), width - 1)], difference = value - centre;
                    const float weight = expf(-((dx * dx + dy * dy) * nearness + difference * difference * likeness));
                    weights += weight;
                    sum += weight * value;
                }
            }
            filtered[y * width + x] = sum / weights;
        }
    }
}

void jump_flood(const Flood *flood, const int32_t *seeds, int32_t *nearest) {
    const int32_t width = flood->size[0], height = flood->size[1], reach = flood->reach;
#pragma omp parallel for
    for (int32_t y = 0; y < height; y++) {
        for (int32_t x = 0; x < width; x++) {
            int32_t best = -1, least = INT32_MAX;
            for (int dy = -1; dy <= 1; dy++) {
                for (int dx = -1; dx <= 1; dx++) {
                    const int32_t u = x + reach * dx, v = y + reach * dy;
                    if (u < 0 || v < 0 || u >= width || v >= height) continue;
                    const int32_t seed = seeds[(int64_t)v * width + u];
                    if (seed < 0) continue;
                    const int32_t across = seed % width - x, down = seed / width - y;
                    const int32_t distance = across * across + down * down;
                    if (distance < least) least = distance, best = seed;
                }
            }
            nearest[(int64_t)y * width + x] = best;
        }
    }
}

void heat(const Grid *grid, const float *restrict before, float *restrict after) {
    const int64_t nx = grid->nx, ny = grid->ny, nz = grid->nz;
    const float rate = grid->rate;
#pragma omp parallel for
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

void blur_rows(const BoxBlur *blur, const uint32_t *source, uint32_t *blurred) {
    const int32_t width = blur->size[0], radius = blur->radius;
#pragma omp parallel for
    for (int64_t y = 0; y < blur->size[1]; y++) {
        const uint8_t *from = (const uint8_t *)(source + y * width);
        uint8_t *to = (uint8_t *)(blurred + y * width);
        uint32_t sum[4];
        for (int c = 0; c < 4; c++) sum[c] = from[c] * (radius + 1);
        for (int x = 1; x <= radius; x++)
            for (int c = 0; c < 4; c++) sum[c] += from[4 * min64(x, width - 1) + c];
        for (int x = 0; x < width; x++)
            for (int c = 0; c < 4; c++) {
                to[4 * x + c] = sum[c] / (2 * radius + 1);
                sum[c] += from[4 * min64(x + radius + 1, width - 1) + c] - from[4 * max64(x - radius, 0) + c];
            }
    }
}
