/* Pictures, with the workgroups, barriers and indices of the WGSL. */

kernel void blur(global const uint2 *size, global const float *source, global float *blurred, uint c0, uint c1) {
    int x = get_global_id(0), y = get_global_id(1), width = size->x, height = size->y;
    if (x >= width || y >= height) return;
    const float weights[3][3] = {{0.0625f, 0.125f, 0.0625f}, {0.125f, 0.25f, 0.125f}, {0.0625f, 0.125f, 0.0625f}};
    float sum = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            sum += weights[j][i] * source[clamp(y + j - 1, 0, height - 1) * width + clamp(x + i - 1, 0, width - 1)];
    blurred[y * width + x] = sum;
}

kernel void life(global const int2 *size, global const uint *cells, global uint *next_cells, uint c0, uint c1) {
    int x = get_global_id(0), y = get_global_id(1), width = size->x, height = size->y;
    if (x >= width || y >= height) return;
    uint count = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            if (i || j) count += cells[(y + j + height) % height * width + (x + i + width) % width];
    uint here = y * width + x;
    next_cells[here] = count == 2 ? cells[here] : count == 3;
}

#define RADIUS 8

float edge_pixel(global const float *source, int2 size, int x, int y) {
    return source[clamp(y, 0, size.y - 1) * size.x + clamp(x, 0, size.x - 1)];
}

kernel void convolve_rows(global const int2 *extent, global const float *weights, global const float *source,
                          global float *result, uint c0, uint c1) {
    local float tile[4][64 + 2 * RADIUS];
    int x = get_global_id(0), y = get_global_id(1), i = get_local_id(0), j = get_local_id(1);
    int2 size = *extent;
    tile[j][i + RADIUS] = edge_pixel(source, size, x, y);
    if (i < RADIUS) {
        tile[j][i] = edge_pixel(source, size, x - RADIUS, y);
        tile[j][i + RADIUS + 64] = edge_pixel(source, size, x + 64, y);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int tap = 0; tap <= 2 * RADIUS; tap++) sum += weights[tap] * tile[j][i + tap];
    if (x < size.x && y < size.y) result[y * size.x + x] = sum;
}

kernel void convolve_columns(global const int2 *extent, global const float *weights, global const float *source,
                             global float *result, uint c0, uint c1) {
    local float tile[16 + 2 * RADIUS][16];
    int x = get_global_id(0), y = get_global_id(1), i = get_local_id(0), j = get_local_id(1);
    int top = get_group_id(1) * 16 - RADIUS;
    int2 size = *extent;
    for (int row = j; row < 16 + 2 * RADIUS; row += 16) tile[row][i] = edge_pixel(source, size, x, top + row);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x >= size.x || y >= size.y) return;
    float sum = 0;
    for (int tap = 0; tap <= 2 * RADIUS; tap++) sum += weights[tap] * tile[j + tap][i];
    result[y * size.x + x] = sum;
}

typedef struct { uint2 size; float nearness, likeness; } Filter;

kernel void bilateral(global const Filter *params, global const float *image, global float *filtered, uint c0, uint c1) {
    int x = get_global_id(0), y = get_global_id(1);
    int2 size = convert_int2(params->size);
    if (x >= size.x || y >= size.y) return;
    float centre = image[y * size.x + x], weights = 0, sum = 0;
    for (int dy = -3; dy <= 3; dy++) {
        for (int dx = -3; dx <= 3; dx++) {
            float value = edge_pixel(image, size, x + dx, y + dy), difference = value - centre;
            float weight = exp(-((dx * dx + dy * dy) * params->nearness + difference * difference * params->likeness));
            weights += weight;
            sum += weight * value;
        }
    }
    filtered[y * size.x + x] = sum / weights;
}

typedef struct { int2 size; int reach; } Flood;

kernel void jump_flood(global const Flood *flood, global const int *seeds, global int *nearest, uint c0, uint c1) {
    int2 here = (int2)(get_global_id(0), get_global_id(1)), size = flood->size;
    if (here.x >= size.x || here.y >= size.y) return;
    int best = -1, best_distance = 0x7fffffff;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int2 there = here + flood->reach * (int2)(dx, dy);
            if (any(there < 0) || any(there >= size)) continue;
            int seed = seeds[there.y * size.x + there.x];
            if (seed < 0) continue;
            int2 way = (int2)(seed % size.x, seed / size.x) - here;
            int distance = way.x * way.x + way.y * way.y;
            if (distance < best_distance) {
                best_distance = distance;
                best = seed;
            }
        }
    }
    nearest[here.y * size.x + here.x] = best;
}

typedef struct { uint nx, ny, nz; float rate; } Grid;

float cell(global const Grid *grid, global const float *before, uint x, uint y, uint z) {
    return before[(z * grid->ny + y) * grid->nx + x];
}

kernel void heat(global const Grid *grid, global const float *before, global float *after, uint c0, uint c1) {
    uint i = get_global_id(0), nx = grid->nx, ny = grid->ny, nz = grid->nz;
    if (i >= nx * ny * nz) return;
    uint x = i % nx, y = i / nx % ny, z = i / (nx * ny);
    float middle = before[i];
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
        after[i] = middle;
        return;
    }
    float sum = cell(grid, before, x - 1, y, z) + cell(grid, before, x + 1, y, z) + cell(grid, before, x, y - 1, z) +
                cell(grid, before, x, y + 1, z) + cell(grid, before, x, y, z - 1) + cell(grid, before, x, y, z + 1);
    after[i] = middle + grid->rate * (sum - 6.0f * middle);
}

typedef struct { int size[2], radius; } BoxBlur;

kernel void blur_rows(global const BoxBlur *blur, global const uchar4 *source, global uchar4 *blurred, uint c0,
                      uint c1) {
    int y = get_global_id(0), width = blur->size[0], radius = blur->radius;
    if (y >= blur->size[1]) return;
    global const uchar4 *from = source + y * width;
    uint4 sum = convert_uint4(from[0]) * (uint)(radius + 1);
    for (int x = 1; x <= radius; x++) sum += convert_uint4(from[min(x, width - 1)]);
    for (int x = 0; x < width; x++) {
        blurred[y * width + x] = convert_uchar4(sum / (uint)(2 * radius + 1));
        sum += convert_uint4(from[min(x + radius + 1, width - 1)]) - convert_uint4(from[max(x - radius, 0)]);
    }
}
