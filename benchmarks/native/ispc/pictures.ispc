/* Pictures; see parts.isph. */
#include "parts.isph"

task void blur_rows(const uniform uint32 size[], const uniform float source[], uniform float blurred[]) {
    uniform int width = size[0], height = size[1];
    for (uniform int y = BEGIN(16); y < END(height, 16); y++) {
        foreach (x = 0 ... width) {
            float sum = 0;
            for (uniform int j = -1; j <= 1; j++) {
                for (uniform int i = -1; i <= 1; i++) {
                    uniform float weight = (2 - abs(i)) * (2 - abs(j)) / 16.0f;
                    sum += weight * source[clamp(y + j, 0, height - 1) * width + clamp(x + i, 0, width - 1)];
                }
            }
            blurred[y * width + x] = sum;
        }
    }
}

export void blur(const uniform uint32 size[], const uniform float source[], uniform float blurred[]) {
    launch[PARTS(size[1], 16)] blur_rows(size, source, blurred);
}

task void life_rows(const uniform int32 size[], const uniform uint32 cells[], uniform uint32 next_cells[]) {
    uniform int width = size[0], height = size[1];
    for (uniform int y = BEGIN(16); y < END(height, 16); y++) {
        foreach (x = 0 ... width) {
            uint32 count = 0;
            for (uniform int j = -1; j <= 1; j++)
                for (uniform int i = -1; i <= 1; i++)
                    if (i != 0 || j != 0)
                        count += cells[(y + j + height) % height * width + (x + i + width) % width];
            next_cells[y * width + x] = count == 2 ? cells[y * width + x] : (count == 3 ? 1 : 0);
        }
    }
}

export void life(const uniform int32 size[], const uniform uint32 cells[], uniform uint32 next_cells[]) {
    launch[PARTS(size[1], 16)] life_rows(size, cells, next_cells);
}

task void convolve_rows_part(const uniform int32 size[], const uniform float weights[], const uniform float source[],
                             uniform float result[]) {
    uniform int width = size[0], height = size[1];
    for (uniform int y = BEGIN(16); y < END(height, 16); y++) {
        foreach (x = 0 ... width) {
            float sum = 0;
            for (uniform int i = 0; i < 17; i++) sum += weights[i] * source[y * width + clamp(x + i - 8, 0, width - 1)];
            result[y * width + x] = sum;
        }
    }
}

export void convolve_rows(const uniform int32 size[], const uniform float weights[], const uniform float source[],
                          uniform float result[]) {
    launch[PARTS(size[1], 16)] convolve_rows_part(size, weights, source, result);
}

task void convolve_columns_part(const uniform int32 size[], const uniform float weights[], const uniform float source[],
                                uniform float result[]) {
    uniform int width = size[0], height = size[1];
    for (uniform int y = BEGIN(16); y < END(height, 16); y++) {
        foreach (x = 0 ... width) {
            float sum = 0;
            for (uniform int i = 0; i < 17; i++) sum += weights[i] * source[clamp(y + i - 8, 0, height - 1) * width + x];
            result[y * width + x] = sum;
        }
    }
}

export void convolve_columns(const uniform int32 size[], const uniform float weights[], const uniform float source[],
                             uniform float result[]) {
    launch[PARTS(size[1], 16)] convolve_columns_part(size, weights, source, result);
}

struct Filter { uint32 size[2]; float nearness, likeness; };

task void bilateral_rows(const uniform Filter *uniform params, const uniform float image[], uniform float filtered[]) {
    uniform int width = params->size[0], height = params->size[1];
    for (uniform int y = BEGIN(8); y < END(height, 8); y++) {
        foreach (x = 0 ... width) {
            float centre = image[y * width + x], weights = 0, sum = 0;
            for (uniform int dy = -3; dy <= 3; dy++) {
                for (uniform int dx = -3; dx <= 3; dx++) {
                    float value = image[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
                    float difference = value - centre;
                    uniform float distance = (dx * dx + dy * dy) * params->nearness;
                    float weight = exp(-(distance + difference * difference * params->likeness));
                    weights += weight;
                    sum += weight * value;
                }
            }
            filtered[y * width + x] = sum / weights;
        }
    }
}

export void bilateral(const uniform Filter *uniform params, const uniform float image[], uniform float filtered[]) {
    launch[PARTS(params->size[1], 8)] bilateral_rows(params, image, filtered);
}

struct Flood { int32 size[2], reach; };

task void jump_flood_rows(const uniform Flood *uniform flood, const uniform int32 seeds[], uniform int32 nearest[]) {
    uniform int width = flood->size[0], height = flood->size[1], reach = flood->reach;
    for (uniform int y = BEGIN(8); y < END(height, 8); y++) {
        foreach (x = 0 ... width) {
            int best = -1, least = 0x7fffffff;
            for (uniform int dy = -1; dy <= 1; dy++) {
                for (uniform int dx = -1; dx <= 1; dx++) {
                    int u = x + reach * dx;
                    uniform int v = y + reach * dy;
                    if (u < 0 || v < 0 || u >= width || v >= height) continue;
                    int seed = seeds[v * width + u];
                    if (seed < 0) continue;
                    int across = seed % width - x, down = seed / width - y;
                    int distance = across * across + down * down;
                    if (distance < least) {
                        least = distance;
                        best = seed;
                    }
                }
            }
            nearest[y * width + x] = best;
        }
    }
}

export void jump_flood(const uniform Flood *uniform flood, const uniform int32 seeds[], uniform int32 nearest[]) {
    launch[PARTS(flood->size[1], 8)] jump_flood_rows(flood, seeds, nearest);
}
