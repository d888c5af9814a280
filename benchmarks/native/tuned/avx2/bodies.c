/* Bodies, flocks, colours; see lanes.h. */
#include "lanes.h"

enum { GANGS = 2 };

void nbody(const NbodyParams *params, const Vec4 *bodies, Vec4 *velocities, Vec4 *moved) {
    const int64_t n = params->count, padded = (n + GANGS * W - 1) / (GANGS * W) * GANGS * W;
    const Floats softening = floats(params->softening_squared);
    const float step = params->time_step;
    float *x = _mm_malloc(6 * padded * sizeof *x, 64), *y = x + padded, *z = y + padded, *sums = z + padded;
    for (int64_t i = 0; i < padded; i++) {
        const Vec4 body = bodies[min64(i, n - 1)];
        x[i] = body.x, y[i] = body.y, z[i] = body.z;
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < padded; i += GANGS * W) {
        Floats ax[GANGS], ay[GANGS], az[GANGS];
#pragma GCC unroll 2
        for (int g = 0; g < GANGS; g++) ax[g] = ay[g] = az[g] = floats(0);
        for (int64_t j = 0; j < n; j++) {
            const Floats bx = floats(bodies[j].x), by = floats(bodies[j].y), bz = floats(bodies[j].z);
            const Floats mass = floats(bodies[j].w);
#pragma GCC unroll 2
            for (int g = 0; g < GANGS; g++) {
                const Floats dx = bx - load(x + i + g * W), dy = by - load(y + i + g * W), dz = bz - load(z + i + g * W);
                const Floats inverse = inverse_sqrt(dx * dx + (dy * dy + (dz * dz + softening)));
                const Floats strength = (mass * inverse) * (inverse * inverse);
                ax[g] += strength * dx;
                ay[g] += strength * dy;
                az[g] += strength * dz;
            }
        }
#pragma GCC unroll 2
        for (int g = 0; g < GANGS; g++) {
            store(sums + i + g * W, ax[g]);
            store(sums + padded + i + g * W, ay[g]);
            store(sums + 2 * padded + i + g * W, az[g]);
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

/* Particles: the structures do not fit lanes, and branches by kind are faster here than computing all ways. */
void particles(const World *world, Particle *particles, int64_t count) {
    enum { SWIRLING = 1, SPARK = 2 };
    const World w = *world;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        Particle p = particles[i];
        if (p.kind > SPARK || (p.kind == SPARK && p.age >= w.lifetime)) {
            memset(particles + i, 0, sizeof p);
            continue;
        }
        const float x = p.velocity[0], y = p.velocity[1];
        if (p.kind == SWIRLING) {
            p.velocity[0] = w.swirl[0][0] * x + w.swirl[1][0] * y;
            p.velocity[1] = w.swirl[0][1] * x + w.swirl[1][1] * y;
        } else if (p.kind == SPARK) {
            p.velocity[0] = x + w.time_step * w.gravity[0];
            p.velocity[1] = y + w.time_step * w.gravity[1];
        }
        for (int axis = 0; axis < 2; axis++) {
            const float at = p.position[axis] + w.time_step * p.velocity[axis], outside = fabsf(at) - w.half_size[axis];
            p.position[axis] = at;
            if (outside <= 0) continue;
            p.position[axis] = at - copysignf(2 * outside, at);
            p.velocity[axis] *= -w.restitution;
            p.bounces++;
        }
        p.age += w.time_step;
        particles[i] = p;
    }
}

/* Colours */

typedef struct { Floats squared, red, green, blue; } Colour;

/* The distance without the pixel's own square: |c|^2 - 2 p c orders the colours as the distance does. */
INLINE void nearest_colours(const Colour *colours, const uint32_t *pixels, int64_t left, uint32_t *labels) {
    enum { PARTS = 2 };
    Floats red[PARTS], green[PARTS], blue[PARTS], least[PARTS], nearest[PARTS];
#pragma GCC unroll 2
    for (int p = 0; p < PARTS; p++) {
        const Words pixel = (Words)load_ints_left(pixels + p * W, left - p * W);
        red[p] = _mm256_cvtepi32_ps((__m256i)(pixel & 0xff));
        green[p] = _mm256_cvtepi32_ps((__m256i)(pixel >> 8 & 0xff));
        blue[p] = _mm256_cvtepi32_ps((__m256i)(pixel >> 16 & 0xff));
        least[p] = floats(3.4028234e38f);
        nearest[p] = floats(0);
    }
    for (int c = 0; c < CLUSTERS; c++) {
        const Colour it = colours[c];
        const Floats number = (Floats)ints(c);
#pragma GCC unroll 2
        for (int p = 0; p < PARTS; p++) {
            const Floats distance = it.squared - red[p] * it.red - green[p] * it.green - blue[p] * it.blue;
            nearest[p] = chosen(nearest[p], below(distance, least[p]), number);
            least[p] = _mm256_min_ps(distance, least[p]);
        }
    }
#pragma GCC unroll 2
    for (int p = 0; p < PARTS; p++) store_ints_left(labels + p * W, left - p * W, (Ints)nearest[p]);
}

typedef struct { uint64_t red_green, blue_count; } PackedTotals;

/* Two sums share a word of 64 bits, 32 each, which a part of 2^20 pixels cannot fill. Four tables in turns let equal
   neighbours not wait for each other. */
void kmeans_assign(const uint32_t *pixels, const Vec4 *colours, uint32_t *labels, uint32_t *totals, int64_t count) {
    enum { PART = 1 << 14, TABLES = 4 };
    Colour spread[CLUSTERS];
    for (int c = 0; c < CLUSTERS; c++) {
        const Vec4 it = colours[c];
        const float squared = it.x * it.x + it.y * it.y + it.z * it.z;
        spread[c] = (Colour){floats(squared), floats(2 * it.x), floats(2 * it.y), floats(2 * it.z)};
    }
#pragma omp parallel for schedule(dynamic)
    for (int64_t start = 0; start < count; start += PART) {
        const int64_t end = min64(start + PART, count);
        PackedTotals mine[TABLES][CLUSTERS] = {{{0}}};
        for (int64_t i = start; i < end; i += 2 * W) nearest_colours(spread, pixels + i, end - i, labels + i);
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

typedef struct { Floats x, y; } Pairs;

INLINE Pairs all_of(const float v[2]) { return (Pairs){floats(v[0]), floats(v[1])}; }
INLINE Pairs add_only(Pairs sum, Floats where, Pairs v) { return (Pairs){sum.x + only(where, v.x), sum.y + only(where, v.y)}; }
INLINE Pairs add_scaled(Pairs sum, Floats factor, Pairs by) { return (Pairs){sum.x + factor * by.x, sum.y + factor * by.y}; }
INLINE Floats squared_length(Pairs v) { return v.x * v.x + v.y * v.y; }

/* Eight boids of four floats each as positions and velocities, and back. */
INLINE void load_boids(const Boid *boids, int64_t count, Pairs *position, Pairs *velocity) {
    float columns[4][W] = {{0}};
    for (int i = 0; i < min64(W, count); i++)
        for (int axis = 0; axis < 2; axis++)
            columns[axis][i] = boids[i].position[axis], columns[2 + axis][i] = boids[i].velocity[axis];
    *position = (Pairs){load(columns[0]), load(columns[1])};
    *velocity = (Pairs){load(columns[2]), load(columns[3])};
}

INLINE void store_boids(Boid *boids, int64_t count, Pairs position, Pairs velocity) {
    float columns[4][W];
    store(columns[0], position.x), store(columns[1], position.y), store(columns[2], velocity.x), store(columns[3], velocity.y);
    for (int i = 0; i < min64(W, count); i++)
        boids[i] = (Boid){{columns[0][i], columns[1][i]}, {columns[2][i], columns[3][i]}};
}

/* 1 / number, and 0 where that is 0. */
INLINE Floats inverse_count(Floats number) { return only((Floats)(number != floats(0)), floats(1) / number); }

/* Lanes are boids, 16 at a time. Sums are of offsets; boids are at offset 0 from themselves, so that only their own
   heading and number have to be taken away. Counts are integers: minus the masks. */
void boids_all(const Rules *rules, const Boid *boids, Boid *moved, int64_t count) {
    enum { PARTS = 2 };
    const Floats sight = floats(rules->sight * rules->sight), near = floats(rules->near * rules->near);
    const Floats closest = floats(rules->closest * rules->closest), either = _mm256_max_ps(near, closest);
#pragma omp parallel for schedule(dynamic)
    for (int64_t start = 0; start < count; start += PARTS * W) {
        Pairs position[PARTS], velocity[PARTS], centre[PARTS], away[PARTS], heading[PARTS];
        Ints in_sight[PARTS], neighbours[PARTS];
        memset(centre, 0, sizeof centre), memset(away, 0, sizeof away), memset(heading, 0, sizeof heading);
        memset(in_sight, 0, sizeof in_sight), memset(neighbours, 0, sizeof neighbours);
#pragma GCC unroll 2
        for (int p = 0; p < PARTS; p++)
            load_boids(boids + start + p * W, count - start - p * W, position + p, velocity + p);
        for (int64_t j = 0; j < count; j++) {
            const Pairs other = all_of(boids[j].position);
#pragma GCC unroll 2
            for (int p = 0; p < PARTS; p++) {
                const Pairs way = {other.x - position[p].x, other.y - position[p].y};
                const Floats squared = squared_length(way), is_seen = below(squared, sight);
                centre[p] = add_only(centre[p], is_seen, way);
                in_sight[p] -= (Ints)is_seen;
                /* Seldom so, where boids see further than they flock. */
                if (__builtin_expect(!any(below(squared, either)), 1)) continue;
                const Floats is_near = below(squared, near);
                away[p] = add_only(away[p], below(squared, closest), way);
                heading[p] = add_only(heading[p], is_near, all_of(boids[j].velocity));
                neighbours[p] -= (Ints)is_near;
            }
        }
#pragma GCC unroll 2
        for (int p = 0; p < PARTS; p++) {
            const Floats saw_itself = below(floats(0), sight), met_itself = below(floats(0), near);
            const Floats seen = _mm256_cvtepi32_ps((__m256i)(in_sight[p] + (Ints)saw_itself));
            const Floats met = _mm256_cvtepi32_ps((__m256i)(neighbours[p] + (Ints)met_itself));
            heading[p].x -= only(met_itself, velocity[p].x);
            heading[p].y -= only(met_itself, velocity[p].y);
            Pairs steered = add_scaled(velocity[p], inverse_count(seen) * floats(rules->cohesion), centre[p]);
            steered = add_scaled(steered, floats(-rules->separation), away[p]);
            steered = add_scaled(steered, inverse_count(met) * floats(rules->alignment), heading[p]);
            const Floats speed = _mm256_sqrt_ps(squared_length(steered)), top = floats(rules->top_speed);
            const Floats brake = chosen(floats(1), below(top, speed), top / speed);
            steered = (Pairs){steered.x * brake, steered.y * brake};
            store_boids(moved + start + p * W, count - start - p * W,
                        add_scaled(position[p], floats(rules->time_step), steered), steered);
        }
    }
}

/* Lanes are boids of a cell. All cells together are what `starts` says; a boid's own cell is not looked up. */
void boids_grid(const Flock *flock, const Boid *boids, const int32_t *cells, const uint32_t *starts, Boid *moved) {
    const int64_t across = flock->grid[0], down = flock->grid[1];
    const Floats sight = floats(flock->sight * flock->sight), closest = floats(flock->closest * flock->closest);
    (void)cells;
#pragma omp parallel for schedule(dynamic)
    for (int64_t row = 0; row < down; row++) {
        for (int64_t cell = row * across; cell < (row + 1) * across; cell++) {
            for (int64_t start = starts[cell]; start < starts[cell + 1]; start += W) {
                const int64_t left = starts[cell + 1] - start, column = cell - row * across;
                const Ints number = lane_numbers() + (int)start;
                const Pairs none = {floats(0), floats(0)};
                Pairs position, velocity, offsets = none, headings = none, push = none;
                Ints seen = ints(0);
                load_boids(boids + start, left, &position, &velocity);
                for (int64_t v = max64(row - 1, 0); v <= min64(row + 1, down - 1); v++) {
                    for (int64_t u = max64(column - 1, 0); u <= min64(column + 1, across - 1); u++) {
                        const float corner_x = (u - column) * flock->cell, corner_y = (v - row) * flock->cell;
                        for (int64_t j = starts[v * across + u]; j < starts[v * across + u + 1]; j++) {
                            const Pairs way = {floats(corner_x + boids[j].position[0]) - position.x,
                                               floats(corner_y + boids[j].position[1]) - position.y};
                            const Floats squared = squared_length(way), other = (Floats)(number != (int)j);
                            const Floats is_seen = only(other, below(squared, sight));
                            offsets = add_only(offsets, is_seen, way);
                            push = add_only(push, only(is_seen, below(squared, closest)), way);
                            headings = add_only(headings, is_seen, all_of(boids[j].velocity));
                            seen -= (Ints)is_seen;
                        }
                    }
                }
                const Floats number_seen = _mm256_cvtepi32_ps((__m256i)seen), share = inverse_count(number_seen);
                headings = add_scaled(headings, -number_seen, velocity);
                Pairs steered = add_scaled(velocity, floats(-flock->separation), push);
                steered = add_scaled(steered, share * floats(flock->cohesion), offsets);
                steered = add_scaled(steered, share * floats(flock->alignment), headings);
                store_boids(moved + start, left, add_scaled(position, floats(flock->time_step), steered), steered);
            }
        }
    }
}
