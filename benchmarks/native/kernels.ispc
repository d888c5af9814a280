/* The kernels in ISPC: a task for each part of the work, `foreach` over the elements. Parameters as in kernels.h. */

struct SaxpyParams { float a; uint32 n; };
struct View { float centre[2]; float pixel; uint32 limit; uint32 size[2]; };
struct MatmulSize { uint32 m, k, n; };
struct NbodyParams { uint32 count; float time_step, softening_squared; };
struct HashParams { uint32 seed, rounds; };
struct Step { uint32 block, reach; };

static const uniform int PART = 65536;

#define PARTS(count, part) (((count) + (part) - 1) / (part))
#define BEGIN(part) ((uniform int)taskIndex * (part))
#define END(count, part) min((uniform int)(count), ((uniform int)taskIndex + 1) * (part))

task void saxpy_part(uniform float a, const uniform float x[], uniform float y[], uniform int n) {
    foreach (i = BEGIN(PART) ... END(n, PART)) y[i] = a * x[i] + y[i];
}

export void saxpy(const uniform SaxpyParams *uniform params, const uniform float x[], uniform float y[]) {
    launch[PARTS(params->n, PART)] saxpy_part(params->a, x, y, params->n);
}

task void vec4_math_part(const uniform float x[], uniform float exponent, uniform float exp_x[], uniform float sin_x[],
                         uniform float sqrt_x[], uniform float pow_x[], uniform int n) {
    foreach (i = BEGIN(PART / 4) ... END(n, PART / 4)) {
        float v = x[i];
        exp_x[i] = exp(v);
        sin_x[i] = sin(v);
        sqrt_x[i] = sqrt(abs(v));
        pow_x[i] = pow(abs(v) + 0.5f, exponent);
    }
}

export void vec4_math(const uniform float x[], const uniform float *uniform exponent, uniform float exp_x[],
                      uniform float sin_x[], uniform float sqrt_x[], uniform float pow_x[], uniform int64 count) {
    uniform int n = 4 * count;
    launch[PARTS(n, PART / 4)] vec4_math_part(x, *exponent, exp_x, sin_x, sqrt_x, pow_x, n);
}

task void mandelbrot_row(const uniform View *uniform view, uniform uint32 escapes[], uniform uint32 picture[]) {
    uniform int row = taskIndex, width = view->size[0];
    uniform uint32 limit = view->limit;
    uniform float cy = view->centre[1] + view->pixel * (row + 0.5f - 0.5f * view->size[1]);
    foreach (column = 0 ... width) {
        float cx = view->centre[0] + view->pixel * (column + 0.5f - 0.5f * width);
        float x = 0, y = 0;
        uint32 steps = 0;
        while (steps < limit && x * x + y * y <= 4.0f) {
            float next = x * x - y * y + cx;
            y = 2 * x * y + cy;
            x = next;
            steps++;
        }
        uint32 red = min((uint32)255, 8 * steps), green = (5 * steps) & 255, blue = 255 - min((uint32)255, 4 * steps);
        escapes[row * width + column] = steps;
        picture[row * width + column] = steps == limit ? 0xff000000 : 0xff000000 | (blue << 16) | (green << 8) | red;
    }
}

export void mandelbrot(const uniform View *uniform view, uniform uint32 escapes[], uniform uint32 picture[]) {
    launch[view->size[1]] mandelbrot_row(view, escapes, picture);
}

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

task void reduce_blocks(const uniform float values[], uniform float partial_sums[], uniform int count,
                        uniform int blocks) {
    for (uniform int block = BEGIN(128); block < END(blocks, 128); block++) {
        float sum = 0;
        foreach (i = block * 512 ... min(count, (block + 1) * 512)) sum += values[i];
        partial_sums[block] = reduce_add(sum);
    }
}

export void reduce(const uniform float values[], uniform float partial_sums[], uniform int64 count,
                   uniform int64 blocks) {
    launch[PARTS(blocks, 128)] reduce_blocks(values, partial_sums, count, blocks);
}

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

task void nbody_part(const uniform NbodyParams *uniform params, const uniform float bodies[],
                     uniform float velocities[], uniform float moved[]) {
    uniform int n = params->count;
    uniform float step = params->time_step, softening = params->softening_squared;
    foreach (i = BEGIN(256) ... END(n, 256)) {
        float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
        float ax = 0, ay = 0, az = 0;
        for (uniform int j = 0; j < n; j++) {
            float dx = bodies[4 * j] - x, dy = bodies[4 * j + 1] - y, dz = bodies[4 * j + 2] - z;
            float inverse = rsqrt(dx * dx + dy * dy + dz * dz + softening);
            float strength = bodies[4 * j + 3] * inverse * inverse * inverse;
            ax += strength * dx;
            ay += strength * dy;
            az += strength * dz;
        }
        float vx = velocities[4 * i] + step * ax, vy = velocities[4 * i + 1] + step * ay;
        float vz = velocities[4 * i + 2] + step * az;
        velocities[4 * i] = vx;
        velocities[4 * i + 1] = vy;
        velocities[4 * i + 2] = vz;
        velocities[4 * i + 3] = 0;
        moved[4 * i] = x + step * vx;
        moved[4 * i + 1] = y + step * vy;
        moved[4 * i + 2] = z + step * vz;
        moved[4 * i + 3] = bodies[4 * i + 3];
    }
}

export void nbody(const uniform NbodyParams *uniform params, const uniform float bodies[], uniform float velocities[],
                  uniform float moved[]) {
    launch[PARTS(params->count, 256)] nbody_part(params, bodies, velocities, moved);
}

task void bitonic_step_part(const uniform Step *uniform merge, uniform float keys[], uniform int count) {
    uniform int block = merge->block, reach = merge->reach;
    foreach (i = BEGIN(PART) ... END(count, PART)) {
        int partner = i ^ reach;
        if (partner > i && partner < count) {
            float lower = keys[i], upper = keys[partner];
            if ((lower > upper) == ((i & block) == 0)) {
                keys[i] = upper;
                keys[partner] = lower;
            }
        }
    }
}

export void bitonic_step(const uniform Step *uniform merge, uniform float keys[], uniform int64 count) {
    launch[PARTS(count, PART)] bitonic_step_part(merge, keys, count);
}

task void pcg_hash_part(const uniform HashParams *uniform params, uniform uint32 hashes[], uniform float unit_floats[],
                        uniform int count) {
    uniform int rounds = params->rounds;
    foreach (i = BEGIN(PART / 4) ... END(count, PART / 4)) {
        uint32 hash = i + params->seed;
        for (uniform int round = 0; round < rounds; round++) {
            uint32 state = hash * 747796405 + 2891336453;
            uint32 word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737;
            hash = (word >> 22) ^ word;
        }
        hashes[i] = hash;
        unit_floats[i] = floatbits(0x3f800000 | (hash >> 9)) - 1.0f;
    }
}

export void pcg_hash(const uniform HashParams *uniform params, uniform uint32 hashes[], uniform float unit_floats[],
                     uniform int64 count) {
    launch[PARTS(count, PART / 4)] pcg_hash_part(params, hashes, unit_floats, count);
}
