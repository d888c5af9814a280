/* Every kernel as a C programmer would first write it: plain loops, shared out by OpenMP. */
#include "kernels.h"

void saxpy(const SaxpyParams *params, const float *x, float *y, int64_t x_count, int64_t y_count) {
    (void)x_count, (void)y_count;
    const float a = params->a;
    const int64_t n = params->n;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

void vec4_math(const float *x, const float *exponent, float *exp_x, float *sin_x, float *sqrt_x, float *pow_x,
               int64_t count) {
    const float power = *exponent;
#pragma omp parallel for
    for (int64_t i = 0; i < 4 * count; i++) {
        exp_x[i] = expf(x[i]);
        sin_x[i] = sinf(x[i]);
        sqrt_x[i] = sqrtf(fabsf(x[i]));
        pow_x[i] = powf(fabsf(x[i]) + 0.5f, power);
    }
}

void mandelbrot(const View *view, uint32_t *escapes, uint32_t *picture) {
    const int64_t width = view->size[0], height = view->size[1];
    const uint32_t limit = view->limit;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t row = 0; row < height; row++) {
        for (int64_t column = 0; column < width; column++) {
            const float cx = view->centre[0] + view->pixel * (column + 0.5f - 0.5f * width);
            const float cy = view->centre[1] + view->pixel * (row + 0.5f - 0.5f * height);
            float x = 0, y = 0;
            uint32_t steps = 0;
            while (steps < limit && x * x + y * y <= 4) {
                const float next = x * x - y * y + cx;
                y = 2 * x * y + cy;
                x = next;
                steps++;
            }
            escapes[row * width + column] = steps;
            picture[row * width + column] = escape_colour(steps, limit);
        }
    }
}

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

void reduce(const float *values, float *partial_sums, int64_t count, int64_t blocks) {
#pragma omp parallel for
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t end = min64((block + 1) * REDUCE_BLOCK, count);
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = block * REDUCE_BLOCK; i < end; i++) sum += values[i];
        partial_sums[block] = sum;
    }
}

static void count_bytes(const uint32_t *words, uint32_t *counts, int64_t count) {
#pragma omp parallel
    {
        uint32_t mine[BINS] = {0};
#pragma omp for nowait
        for (int64_t i = 0; i < count; i++)
            for (int shift = 0; shift < 32; shift += 8) mine[words[i] >> shift & 0xff]++;
#pragma omp critical
        for (int bin = 0; bin < BINS; bin++) counts[bin] += mine[bin];
    }
}

void histogram_global(const uint32_t *words, uint32_t *counts, int64_t count) { count_bytes(words, counts, count); }

void histogram_local(const uint32_t *words, uint32_t *counts, int64_t count) { count_bytes(words, counts, count); }

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

void nbody(const NbodyParams *params, const Vec4 *bodies, Vec4 *velocities, Vec4 *moved, int64_t count,
           int64_t velocity_count, int64_t moved_count) {
    (void)count, (void)velocity_count, (void)moved_count;
    const int64_t n = params->count;
    const float step = params->time_step, softening = params->softening_squared;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        const Vec4 me = bodies[i];
        float ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
        for (int64_t j = 0; j < n; j++) {
            const float x = bodies[j].x - me.x, y = bodies[j].y - me.y, z = bodies[j].z - me.z;
            const float squared = x * x + y * y + z * z + softening;
            const float strength = bodies[j].w / (squared * sqrtf(squared));
            ax += strength * x;
            ay += strength * y;
            az += strength * z;
        }
        const Vec4 v = {velocities[i].x + step * ax, velocities[i].y + step * ay, velocities[i].z + step * az, 0};
        velocities[i] = v;
        moved[i] = (Vec4){me.x + step * v.x, me.y + step * v.y, me.z + step * v.z, me.w};
    }
}

void scan_hillis_steele(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                        int64_t blocks) {
    (void)sum_count;
#pragma omp parallel for
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t end = min64((block + 1) * HILLIS_STEELE_BLOCK, count);
        uint32_t sum = 0;
        for (int64_t i = block * HILLIS_STEELE_BLOCK; i < end; i++) sums[i] = sum += values[i];
        block_sums[block] = sum;
    }
}

void scan_blelloch(const uint32_t *values, uint32_t *sums, uint32_t *block_sums, int64_t count, int64_t sum_count,
                   int64_t blocks) {
    (void)sum_count;
#pragma omp parallel for
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t end = min64((block + 1) * BLELLOCH_BLOCK, count);
        uint32_t sum = 0;
        for (int64_t i = block * BLELLOCH_BLOCK; i < end; i++) {
            const uint32_t value = values[i];
            sums[i] = sum;
            sum += value;
        }
        block_sums[block] = sum;
    }
}

void bitonic_step(const Step *merge, float *keys, int64_t count) {
    const int64_t block = merge->block, reach = merge->reach;
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        const int64_t partner = i ^ reach;
        if (partner <= i || partner >= count) continue;
        const float lower = keys[i], upper = keys[partner];
        if ((lower > upper) == ((i & block) == 0)) {
            keys[i] = upper;
            keys[partner] = lower;
        }
    }
}

void bitonic_sort(uint32_t *keys, int64_t count) {
#pragma omp parallel for
    for (int64_t start = 0; start < count; start += SORT_BLOCK) {
        uint32_t block[SORT_BLOCK];
        const int64_t length = min64(SORT_BLOCK, count - start);
        memset(block, 0xff, sizeof block);
        memcpy(block, keys + start, length * sizeof *keys);
        for (int run = 2; run <= SORT_BLOCK; run *= 2) {
            for (int reach = run / 2; reach > 0; reach /= 2) {
                for (int i = 0; i < SORT_BLOCK; i++) {
                    const int partner = i ^ reach;
                    if (partner > i && (block[i] > block[partner]) == ((i & run) == 0)) {
                        const uint32_t key = block[i];
                        block[i] = block[partner];
                        block[partner] = key;
                    }
                }
            }
        }
        memcpy(keys + start, block, length * sizeof *keys);
    }
}

void pcg_hash(const HashParams *params, uint32_t *hashes, float *unit_floats, int64_t count, int64_t float_count) {
    (void)float_count;
    const uint32_t seed = params->seed, rounds = params->rounds;
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        uint32_t hash = (uint32_t)i + seed;
        for (uint32_t round = 0; round < rounds; round++) hash = pcg(hash);
        hashes[i] = hash;
        unit_floats[i] = unit_float(hash);
    }
}

void collatz(const uint32_t *starts, int32_t *lengths, int64_t count, int64_t length_count) {
    const uint32_t largest = (0xffffffffu - 1) / 3;
    (void)length_count;
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t i = 0; i < count; i++) {
        uint32_t n = starts[i];
        int32_t steps = 0;
        while (n > 1) {
            if (n % 2 == 0) {
                const int halvings = __builtin_ctz(n);
                n >>= halvings;
                steps += halvings;
            } else if (n > largest) {
                steps = -1;
                break;
            } else {
                n = 3 * n + 1;
                steps++;
            }
        }
        lengths[i] = steps;
    }
}

void compact(const float *threshold, const float *values, uint32_t *count, Kept *kept, int64_t value_count,
             int64_t kept_count) {
    const float least = *threshold;
#pragma omp parallel for
    for (int64_t i = 0; i < value_count; i++) {
        if (values[i] <= least) continue;
        const uint32_t place = __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
        if (place < kept_count) kept[place] = (Kept){(uint32_t)i, values[i]};
    }
}

void grayscale(const uint32_t *pixels, uint32_t *grey_pixels, Range *range, int64_t count, int64_t grey_count) {
    (void)grey_count;
    uint32_t darkest = range->darkest, brightest = range->brightest;
#pragma omp parallel for reduction(min : darkest) reduction(max : brightest)
    for (int64_t i = 0; i < count; i++) {
        const uint32_t pixel = pixels[i];
        const uint32_t grey = ((pixel & 0xff) * 77 + (pixel >> 8 & 0xff) * 150 + (pixel >> 16 & 0xff) * 29) >> 8;
        grey_pixels[i] = grey * 0x010101u | (pixel & 0xff000000u);
        darkest = grey < darkest ? grey : darkest;
        brightest = grey > brightest ? grey : brightest;
    }
    range->darkest = darkest;
    range->brightest = brightest;
}

void half_axpy(const _Float16 *a, const _Float16 *x, _Float16 *y, int64_t count, int64_t y_count) {
    (void)y_count;
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        y[2 * i] += a[0] * x[2 * i];
        y[2 * i + 1] += a[1] * x[2 * i + 1];
    }
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

static int bounce(float *coordinate, float *speed, float half, float restitution) {
    const float outside = fabsf(*coordinate) - half;
    if (outside <= 0) return 0;
    *coordinate -= copysignf(2 * outside, *coordinate);
    *speed *= -restitution;
    return 1;
}

void particles(const World *world, Particle *particles, int64_t count) {
    enum { DRIFTING, SWIRLING, SPARK };
    const World w = *world;
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        Particle p = particles[i];
        if (p.kind > SPARK || (p.kind == SPARK && p.age >= w.lifetime)) {
            memset(particles + i, 0, sizeof p);
            continue;
        }
        if (p.kind == SWIRLING) {
            const float x = p.velocity[0], y = p.velocity[1];
            p.velocity[0] = w.swirl[0][0] * x + w.swirl[1][0] * y;
            p.velocity[1] = w.swirl[0][1] * x + w.swirl[1][1] * y;
        } else if (p.kind == SPARK) {
            p.velocity[0] += w.time_step * w.gravity[0];
            p.velocity[1] += w.time_step * w.gravity[1];
        }
        for (int axis = 0; axis < 2; axis++) {
            p.position[axis] += w.time_step * p.velocity[axis];
            p.bounces += bounce(&p.position[axis], &p.velocity[axis], w.half_size[axis], w.restitution);
        }
        p.age += w.time_step;
        particles[i] = p;
    }
}
