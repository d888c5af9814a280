/* Bodies, flocks, colours, light; see lanes.h. */
#include "lanes.h"

enum { GANGS = 4 };

/* 1 / sqrt(v) to 2 ULP: an estimate of 14 bits and a Newton step. */
INLINE __m512 inverse_sqrt(__m512 v) {
    const __m512 guess = _mm512_rsqrt14_ps(v), half = _mm512_set1_ps(0.5f);
    const __m512 error = _mm512_fnmadd_ps(_mm512_mul_ps(v, guess), guess, _mm512_set1_ps(1));
    return _mm512_fmadd_ps(_mm512_mul_ps(half, guess), error, guess);
}

void nbody(const NbodyParams *params, const Vec4 *bodies, Vec4 *velocities, Vec4 *moved) {
    const int64_t n = params->count, padded = (n + GANGS * W - 1) / (GANGS * W) * GANGS * W;
    const __m512 softening = _mm512_set1_ps(params->softening_squared);
    const float step = params->time_step;
    float *x = _mm_malloc(6 * padded * sizeof *x, 64), *y = x + padded, *z = y + padded, *sums = z + padded;
    for (int64_t i = 0; i < padded; i++) {
        const Vec4 body = bodies[min64(i, n - 1)];
        x[i] = body.x, y[i] = body.y, z[i] = body.z;
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < padded; i += GANGS * W) {
        __m512 ax[GANGS], ay[GANGS], az[GANGS], px[GANGS], py[GANGS], pz[GANGS];
#pragma GCC unroll 4
        for (int g = 0; g < GANGS; g++) {
            ax[g] = ay[g] = az[g] = _mm512_setzero_ps();
            px[g] = _mm512_load_ps(x + i + g * W), py[g] = _mm512_load_ps(y + i + g * W), pz[g] = _mm512_load_ps(z + i + g * W);
        }
        for (int64_t j = 0; j < n; j++) {
            const __m512 bx = _mm512_set1_ps(bodies[j].x), by = _mm512_set1_ps(bodies[j].y);
            const __m512 bz = _mm512_set1_ps(bodies[j].z), mass = _mm512_set1_ps(bodies[j].w);
#pragma GCC unroll 4
            for (int g = 0; g < GANGS; g++) {
                const __m512 dx = _mm512_sub_ps(bx, px[g]), dy = _mm512_sub_ps(by, py[g]), dz = _mm512_sub_ps(bz, pz[g]);
                const __m512 squared = _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_fmadd_ps(dz, dz, softening)));
                const __m512 inverse = inverse_sqrt(squared);
                const __m512 strength = _mm512_mul_ps(_mm512_mul_ps(mass, inverse), _mm512_mul_ps(inverse, inverse));
                ax[g] = _mm512_fmadd_ps(strength, dx, ax[g]);
                ay[g] = _mm512_fmadd_ps(strength, dy, ay[g]);
                az[g] = _mm512_fmadd_ps(strength, dz, az[g]);
            }
        }
#pragma GCC unroll 4
        for (int g = 0; g < GANGS; g++) {
            _mm512_store_ps(sums + i + g * W, ax[g]);
            _mm512_store_ps(sums + padded + i + g * W, ay[g]);
            _mm512_store_ps(sums + 2 * padded + i + g * W, az[g]);
        }
        for (int64_t body = i; body < min64(i + GANGS * W, n); body++) {
            const Vec4 me = bodies[body], old = velocities[body];
            const Vec4 v = {old.x + step * sums[body], old.y + step * sums[padded + body], old.z + step * sums[2 * padded + body], 0};
            velocities[body] = v;
            moved[body] = (Vec4){me.x + step * v.x, me.y + step * v.y, me.z + step * v.z, me.w};
        }
    }
    _mm_free(x);
}

/* Particles: what is plain is fast already, as the structures do not fit lanes; only the branches are gone. */
void particles(const World *world, Particle *particles, int64_t count) {
    enum { SWIRLING = 1, SPARK = 2 };
    const World w = *world;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        Particle p = particles[i];
        const int is_spark = p.kind == SPARK, is_swirling = p.kind == SWIRLING;
        const int is_dead = (p.kind > SPARK) | (is_spark & (p.age >= w.lifetime));
        const float x = p.velocity[0], y = p.velocity[1];
        const float pulls = is_spark ? w.time_step : 0;
        float v[2] = {(is_swirling ? w.swirl[0][0] * x + w.swirl[1][0] * y : x) + pulls * w.gravity[0],
                      (is_swirling ? w.swirl[0][1] * x + w.swirl[1][1] * y : y) + pulls * w.gravity[1]};
        for (int axis = 0; axis < 2; axis++) {
            const float at = p.position[axis] + w.time_step * v[axis], outside = fabsf(at) - w.half_size[axis];
            const int bounces = outside > 0;
            p.position[axis] = bounces ? at - copysignf(2 * outside, at) : at;
            p.velocity[axis] = bounces ? -w.restitution * v[axis] : v[axis];
            p.bounces += bounces;
        }
        p.age += w.time_step;
        __m256i bytes;
        memcpy(&bytes, &p, sizeof bytes);
        _mm256_storeu_si256((__m256i *)(particles + i), is_dead ? _mm256_setzero_si256() : bytes);
    }
}

/* Colours */

/* The distance without the pixel's own square: |c|^2 - 2 p c orders the colours as the distance does. */
INLINE __m512i nearest_colours(const Vec4 *colours, __m512 red, __m512 green, __m512 blue) {
    __m512 least = _mm512_set1_ps(3.4028234e38f);
    __m512i nearest = _mm512_setzero_si512();
#pragma GCC unroll 16
    for (int c = 0; c < CLUSTERS; c++) {
        const Vec4 it = colours[c];
        __m512 distance = _mm512_set1_ps(it.x * it.x + it.y * it.y + it.z * it.z);
        distance = _mm512_fnmadd_ps(red, _mm512_set1_ps(2 * it.x), distance);
        distance = _mm512_fnmadd_ps(green, _mm512_set1_ps(2 * it.y), distance);
        distance = _mm512_fnmadd_ps(blue, _mm512_set1_ps(2 * it.z), distance);
        const __mmask16 nearer = _mm512_cmp_ps_mask(distance, least, _CMP_LT_OQ);
        least = _mm512_mask_mov_ps(least, nearer, distance);
        nearest = _mm512_mask_set1_epi32(nearest, nearer, c);
    }
    return nearest;
}

typedef struct { uint64_t red_green, blue_count; } PackedTotals;

/* Two sums share a word of 64 bits, 32 each, which a part of 2^20 pixels cannot fill. Four tables in turns let equal
   neighbours not wait for each other. */
void kmeans_assign(const uint32_t *pixels, const Vec4 *colours, uint32_t *labels, uint32_t *totals, int64_t count) {
    enum { PART = 1 << 16, TABLES = 4 };
    const __m512i byte = _mm512_set1_epi32(0xff);
#pragma omp parallel for schedule(dynamic)
    for (int64_t start = 0; start < count; start += PART) {
        const int64_t end = min64(start + PART, count);
        PackedTotals mine[TABLES][CLUSTERS] = {{{0}}};
        for (int64_t i = start; i < end; i += W) {
            const __mmask16 here = lanes_left(end - i);
            const __m512i pixel = _mm512_maskz_loadu_epi32(here, pixels + i);
            const __m512 red = _mm512_cvtepi32_ps(_mm512_and_si512(pixel, byte));
            const __m512 green = _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(pixel, 8), byte));
            const __m512 blue = _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(pixel, 16), byte));
            _mm512_mask_storeu_epi32(labels + i, here, nearest_colours(colours, red, green, blue));
        }
        for (int64_t i = start; i < end; i++) {
            PackedTotals *sum = &mine[i % TABLES][labels[i]];
            const uint64_t pixel = pixels[i];
            sum->red_green += (pixel & 0xff) | (pixel & 0xff00) << 24;
            sum->blue_count += (pixel >> 16 & 0xff) | (uint64_t)1 << 32;
        }
#pragma omp critical
        for (int c = 0; c < CLUSTERS; c++)
            for (int t = 0; t < TABLES; t++) {
                totals[4 * c] += (uint32_t)mine[t][c].red_green;
                totals[4 * c + 1] += (uint32_t)(mine[t][c].red_green >> 32);
                totals[4 * c + 2] += (uint32_t)mine[t][c].blue_count;
                totals[4 * c + 3] += (uint32_t)(mine[t][c].blue_count >> 32);
            }
    }
}

/* Flocks */

typedef struct { __m512 x, y; } Pairs;

INLINE Pairs masked_add(Pairs sum, __mmask16 where, __m512 x, __m512 y) {
    return (Pairs){_mm512_mask_add_ps(sum.x, where, sum.x, x), _mm512_mask_add_ps(sum.y, where, sum.y, y)};
}

INLINE Pairs scaled_add(Pairs sum, __m512 factor, Pairs by) {
    return (Pairs){_mm512_fmadd_ps(factor, by.x, sum.x), _mm512_fmadd_ps(factor, by.y, sum.y)};
}

/* Sixteen boids of four floats each as positions and velocities, and back. */
INLINE void load_boids(const Boid *boids, int64_t count, Pairs *position, Pairs *velocity) {
    const __m512i lane = lane_numbers(), column = _mm512_slli_epi32(lane, 2);
    const __mmask16 here = lanes_left(count);
    const __m512 none = _mm512_setzero_ps();
    position->x = _mm512_mask_i32gather_ps(none, here, column, &boids->position[0], 4);
    position->y = _mm512_mask_i32gather_ps(none, here, column, &boids->position[1], 4);
    velocity->x = _mm512_mask_i32gather_ps(none, here, column, &boids->velocity[0], 4);
    velocity->y = _mm512_mask_i32gather_ps(none, here, column, &boids->velocity[1], 4);
}

INLINE void store_boids(Boid *boids, int64_t count, Pairs position, Pairs velocity) {
    float columns[4][W];
    _mm512_storeu_ps(columns[0], position.x), _mm512_storeu_ps(columns[1], position.y);
    _mm512_storeu_ps(columns[2], velocity.x), _mm512_storeu_ps(columns[3], velocity.y);
    for (int i = 0; i < min64(W, count); i++)
        boids[i] = (Boid){{columns[0][i], columns[1][i]}, {columns[2][i], columns[3][i]}};
}

/* 1 / number, and 0 where that is 0. */
INLINE __m512 inverse_count(__m512 number) {
    return _mm512_maskz_div_ps(_mm512_cmpneq_epi32_mask(_mm512_castps_si512(number), _mm512_setzero_si512()),
                               _mm512_set1_ps(1), number);
}

/* Lanes are boids, 32 at a time. Sums are of offsets; boids are at offset 0 from themselves, so that only their own
   heading and number have to be taken away. */
void boids_all(const Rules *rules, const Boid *boids, Boid *moved, int64_t count) {
    enum { PARTS = 2 };
    const __m512 sight = _mm512_set1_ps(rules->sight * rules->sight), near = _mm512_set1_ps(rules->near * rules->near);
    const __m512 closest = _mm512_set1_ps(rules->closest * rules->closest), either = _mm512_max_ps(near, closest);
    const __m512 one = _mm512_set1_ps(1);
#pragma omp parallel for schedule(dynamic)
    for (int64_t start = 0; start < count; start += PARTS * W) {
        Pairs position[PARTS], velocity[PARTS], centre[PARTS], away[PARTS], heading[PARTS];
        __m512 in_sight[PARTS], neighbours[PARTS];
        memset(centre, 0, sizeof centre), memset(away, 0, sizeof away), memset(heading, 0, sizeof heading);
        memset(in_sight, 0, sizeof in_sight), memset(neighbours, 0, sizeof neighbours);
#pragma GCC unroll 2
        for (int p = 0; p < PARTS; p++)
            load_boids(boids + start + p * W, count - start - p * W, position + p, velocity + p);
        for (int64_t j = 0; j < count; j++) {
            const __m512 bx = _mm512_set1_ps(boids[j].position[0]), by = _mm512_set1_ps(boids[j].position[1]);
#pragma GCC unroll 2
            for (int p = 0; p < PARTS; p++) {
                const __m512 x = _mm512_sub_ps(bx, position[p].x), y = _mm512_sub_ps(by, position[p].y);
                const __m512 squared = _mm512_fmadd_ps(x, x, _mm512_mul_ps(y, y));
                const __mmask16 is_seen = _mm512_cmp_ps_mask(squared, sight, _CMP_LT_OQ);
                centre[p] = masked_add(centre[p], is_seen, x, y);
                in_sight[p] = _mm512_mask_add_ps(in_sight[p], is_seen, in_sight[p], one);
                /* Seldom so, where boids see further than they flock. */
                if (!_mm512_cmp_ps_mask(squared, either, _CMP_LT_OQ)) continue;
                const __mmask16 is_near = _mm512_cmp_ps_mask(squared, near, _CMP_LT_OQ);
                const __mmask16 is_close = _mm512_cmp_ps_mask(squared, closest, _CMP_LT_OQ);
                away[p] = masked_add(away[p], is_close, x, y);
                heading[p] = masked_add(heading[p], is_near, _mm512_set1_ps(boids[j].velocity[0]),
                                        _mm512_set1_ps(boids[j].velocity[1]));
                neighbours[p] = _mm512_mask_add_ps(neighbours[p], is_near, neighbours[p], one);
            }
        }
#pragma GCC unroll 2
        for (int p = 0; p < PARTS; p++) {
            const __m512 minus_one = _mm512_set1_ps(-1);
            const __mmask16 saw_itself = _mm512_cmp_ps_mask(_mm512_setzero_ps(), sight, _CMP_LT_OQ);
            const __mmask16 met_itself = _mm512_cmp_ps_mask(_mm512_setzero_ps(), near, _CMP_LT_OQ);
            in_sight[p] = _mm512_mask_add_ps(in_sight[p], saw_itself, in_sight[p], minus_one);
            neighbours[p] = _mm512_mask_add_ps(neighbours[p], met_itself, neighbours[p], minus_one);
            heading[p].x = _mm512_mask_sub_ps(heading[p].x, met_itself, heading[p].x, velocity[p].x);
            heading[p].y = _mm512_mask_sub_ps(heading[p].y, met_itself, heading[p].y, velocity[p].y);
            const __m512 cohesion = _mm512_mul_ps(inverse_count(in_sight[p]), _mm512_set1_ps(rules->cohesion));
            const __m512 alignment = _mm512_mul_ps(inverse_count(neighbours[p]), _mm512_set1_ps(rules->alignment));
            Pairs steered = scaled_add(velocity[p], cohesion, centre[p]);
            steered = scaled_add(steered, _mm512_set1_ps(-rules->separation), away[p]);
            steered = scaled_add(steered, alignment, heading[p]);
            const __m512 squared = _mm512_fmadd_ps(steered.x, steered.x, _mm512_mul_ps(steered.y, steered.y));
            const __m512 speed = _mm512_sqrt_ps(squared), top = _mm512_set1_ps(rules->top_speed);
            const __mmask16 too_fast = _mm512_cmp_ps_mask(speed, top, _CMP_GT_OQ);
            const __m512 brake = _mm512_mask_div_ps(one, too_fast, top, speed);
            steered = (Pairs){_mm512_mul_ps(steered.x, brake), _mm512_mul_ps(steered.y, brake)};
            store_boids(moved + start + p * W, count - start - p * W,
                        scaled_add(position[p], _mm512_set1_ps(rules->time_step), steered), steered);
        }
    }
}

/* Lanes are boids of a cell. All cells together are what `starts` says; a boid's own cell is not looked up. */
void boids_grid(const Flock *flock, const Boid *boids, const int32_t *cells, const uint32_t *starts, Boid *moved) {
    const int64_t across = flock->grid[0], down = flock->grid[1];
    const __m512 sight = _mm512_set1_ps(flock->sight * flock->sight), one = _mm512_set1_ps(1);
    const __m512 closest = _mm512_set1_ps(flock->closest * flock->closest);
    (void)cells;
#pragma omp parallel for schedule(dynamic)
    for (int64_t row = 0; row < down; row++) {
        for (int64_t cell = row * across; cell < (row + 1) * across; cell++) {
            for (int64_t start = starts[cell]; start < starts[cell + 1]; start += W) {
                const int64_t left = starts[cell + 1] - start;
                const __m512i number = _mm512_add_epi32(lane_numbers(), _mm512_set1_epi32((int)start));
                Pairs position, velocity, offsets, headings, push;
                __m512 seen = _mm512_setzero_ps();
                offsets.x = offsets.y = headings.x = headings.y = push.x = push.y = seen;
                load_boids(boids + start, left, &position, &velocity);
                for (int64_t v = max64(row - 1, 0); v <= min64(row + 1, down - 1); v++) {
                    const int64_t column = cell - row * across;
                    for (int64_t u = max64(column - 1, 0); u <= min64(column + 1, across - 1); u++) {
                        const float corner_x = (u - column) * flock->cell, corner_y = (v - row) * flock->cell;
                        for (int64_t j = starts[v * across + u]; j < starts[v * across + u + 1]; j++) {
                            const __m512 x = _mm512_sub_ps(_mm512_set1_ps(corner_x + boids[j].position[0]), position.x);
                            const __m512 y = _mm512_sub_ps(_mm512_set1_ps(corner_y + boids[j].position[1]), position.y);
                            const __m512 squared = _mm512_fmadd_ps(x, x, _mm512_mul_ps(y, y));
                            const __mmask16 other = _mm512_cmpneq_epi32_mask(number, _mm512_set1_epi32((int)j));
                            const __mmask16 is_seen = _mm512_mask_cmp_ps_mask(other, squared, sight, _CMP_LT_OQ);
                            const __mmask16 is_close = _mm512_mask_cmp_ps_mask(is_seen, squared, closest, _CMP_LT_OQ);
                            offsets = masked_add(offsets, is_seen, x, y);
                            push = masked_add(push, is_close, x, y);
                            headings = masked_add(headings, is_seen, _mm512_set1_ps(boids[j].velocity[0]),
                                                  _mm512_set1_ps(boids[j].velocity[1]));
                            seen = _mm512_mask_add_ps(seen, is_seen, seen, one);
                        }
                    }
                }
                headings = scaled_add(headings, _mm512_sub_ps(_mm512_setzero_ps(), seen), velocity);
                const __m512 share = inverse_count(seen);
                Pairs steered = scaled_add(velocity, _mm512_set1_ps(-flock->separation), push);
                steered = scaled_add(steered, _mm512_mul_ps(share, _mm512_set1_ps(flock->cohesion)), offsets);
                steered = scaled_add(steered, _mm512_mul_ps(share, _mm512_set1_ps(flock->alignment)), headings);
                const Pairs end = scaled_add(position, _mm512_set1_ps(flock->time_step), steered);
                store_boids(moved + start, left, end, steered);
            }
        }
    }
}
