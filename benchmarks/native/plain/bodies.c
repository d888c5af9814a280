/* Bodies, flocks, colours, light, in plain loops as one first writes them. */
#include "../kernels.h"

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

void kmeans_assign(const uint32_t *pixels, const Vec4 *colours, uint32_t *labels, uint32_t *totals, int64_t count) {
#pragma omp parallel
    {
        uint32_t mine[CLUSTERS][4] = {{0}};
#pragma omp for nowait
        for (int64_t i = 0; i < count; i++) {
            const uint32_t rgb[3] = {pixels[i] & 255, pixels[i] >> 8 & 255, pixels[i] >> 16 & 255};
            float least = 3.4028234e38f;
            int nearest = 0;
            for (int c = 0; c < CLUSTERS; c++) {
                const float r = rgb[0] - colours[c].x, g = rgb[1] - colours[c].y, b = rgb[2] - colours[c].z;
                const float distance = r * r + g * g + b * b;
                if (distance < least) least = distance, nearest = c;
            }
            labels[i] = nearest;
            for (int channel = 0; channel < 3; channel++) mine[nearest][channel] += rgb[channel];
            mine[nearest][3]++;
        }
#pragma omp critical
        for (int i = 0; i < 4 * CLUSTERS; i++) totals[i] += mine[i / 4][i % 4];
    }
}

void kmeans_update(const Vec4 *points, const uint32_t *labels, Vec4 *partial_sums, int64_t count) {
#pragma omp parallel for
    for (int64_t start = 0; start < count; start += UPDATE_PART) {
        Vec4 sums[CLUSTERS] = {{0}};
        for (int64_t i = start; i < min64(start + UPDATE_PART, count); i++) {
            if (labels[i] >= CLUSTERS) continue;
            Vec4 *sum = sums + labels[i];
            *sum = (Vec4){sum->x + points[i].x, sum->y + points[i].y, sum->z + points[i].z, sum->w + points[i].w};
        }
        memcpy(partial_sums + start / UPDATE_PART * CLUSTERS, sums, sizeof sums);
    }
}

void boids_all(const Rules *rules, const Boid *boids, Boid *moved, int64_t count) {
    const float sight = rules->sight * rules->sight, closest = rules->closest * rules->closest;
    const float near = rules->near * rules->near;
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        const Boid me = boids[i];
        float cx = 0, cy = 0, ax = 0, ay = 0, hx = 0, hy = 0, in_sight = 0, neighbours = 0;
        for (int64_t j = 0; j < count; j++) {
            if (j == i) continue;
            const float x = boids[j].position[0] - me.position[0], y = boids[j].position[1] - me.position[1];
            const float squared = x * x + y * y;
            if (squared < sight) cx += boids[j].position[0], cy += boids[j].position[1], in_sight++;
            if (squared < closest) ax -= x, ay -= y;
            if (squared < near) hx += boids[j].velocity[0], hy += boids[j].velocity[1], neighbours++;
        }
        float vx = me.velocity[0], vy = me.velocity[1];
        if (in_sight > 0) {
            vx += (cx / in_sight - me.position[0]) * rules->cohesion;
            vy += (cy / in_sight - me.position[1]) * rules->cohesion;
        }
        vx += ax * rules->separation, vy += ay * rules->separation;
        if (neighbours > 0) vx += hx / neighbours * rules->alignment, vy += hy / neighbours * rules->alignment;
        const float speed = sqrtf(vx * vx + vy * vy);
        if (speed > rules->top_speed) vx *= rules->top_speed / speed, vy *= rules->top_speed / speed;
        const float step = rules->time_step;
        moved[i] = (Boid){{me.position[0] + step * vx, me.position[1] + step * vy}, {vx, vy}};
    }
}

void boids_grid(const Flock *flock, const Boid *boids, const int32_t *cells, const uint32_t *starts, Boid *moved,
                int64_t count) {
    const Flock f = *flock;
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        const Boid me = boids[i];
        const int column = cells[i] % f.grid[0], row = cells[i] / f.grid[0];
        float ox = 0, oy = 0, hx = 0, hy = 0, px = 0, py = 0, seen = 0;
        for (int v = (int)max64(row - 1, 0); v <= min64(row + 1, f.grid[1] - 1); v++) {
            for (int u = (int)max64(column - 1, 0); u <= min64(column + 1, f.grid[0] - 1); u++) {
                const int cell = v * f.grid[0] + u;
                for (uint32_t j = starts[cell]; j < starts[cell + 1]; j++) {
                    const float x = (u - column) * f.cell + boids[j].position[0] - me.position[0];
                    const float y = (v - row) * f.cell + boids[j].position[1] - me.position[1];
                    const float squared = x * x + y * y;
                    if (j == i || squared >= f.sight * f.sight) continue;
                    ox += x, oy += y, hx += boids[j].velocity[0], hy += boids[j].velocity[1], seen++;
                    if (squared < f.closest * f.closest) px -= x, py -= y;
                }
            }
        }
        float vx = me.velocity[0] + f.separation * px, vy = me.velocity[1] + f.separation * py;
        if (seen > 0) {
            vx += f.cohesion * (ox / seen) + f.alignment * (hx / seen - me.velocity[0]);
            vy += f.cohesion * (oy / seen) + f.alignment * (hy / seen - me.velocity[1]);
        }
        moved[i] = (Boid){{me.position[0] + f.time_step * vx, me.position[1] + f.time_step * vy}, {vx, vy}};
    }
}

/* Path tracing */

typedef struct { float x, y, z; } Vec3;

static Vec3 plus(Vec3 a, float factor, Vec3 b) {
    return (Vec3){a.x + factor * b.x, a.y + factor * b.y, a.z + factor * b.z};
}

static float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static Vec3 normalized(Vec3 v) { return plus((Vec3){0, 0, 0}, 1 / sqrtf(dot(v, v)), v); }

static float draw(uint32_t *state) {
    const uint32_t next = *state = *state * 747796405u + 2891336453u;
    const uint32_t word = ((next >> ((next >> 28) + 4)) ^ next) * 277803737u;
    return (float)(((word >> 22) ^ word) >> 8) / 16777216.0f;
}

static Vec3 in_unit_ball(uint32_t *state) {
    for (;;) {
        const float x = 2 * draw(state) - 1, y = 2 * draw(state) - 1, z = 2 * draw(state) - 1;
        const Vec3 point = {x, y, z};
        if (dot(point, point) <= 1) return point;
    }
}

static float meets(const Sphere *sphere, Vec3 origin, Vec3 direction) {
    const Vec3 way = {sphere->centre[0] - origin.x, sphere->centre[1] - origin.y, sphere->centre[2] - origin.z};
    const float along = dot(way, direction);
    const float discriminant = along * along - dot(way, way) + sphere->radius * sphere->radius;
    if (discriminant < 0) return FARTHEST;
    const float half_chord = sqrtf(discriminant);
    if (along - half_chord > NEAREST) return along - half_chord;
    return along + half_chord > NEAREST ? along + half_chord : FARTHEST;
}

static Vec3 trace(const Sphere *spheres, int64_t count, Vec3 origin, Vec3 direction, uint32_t *state) {
    Vec3 light = {1, 1, 1};
    for (int bounce = 0; bounce < BOUNCES; bounce++) {
        float distance = FARTHEST;
        const Sphere *hit = spheres;
        for (int64_t i = 0; i < count; i++) {
            const float d = meets(spheres + i, origin, direction);
            if (d < distance) distance = d, hit = spheres + i;
        }
        if (distance == FARTHEST) {
            const float share = 0.5f * direction.y + 0.5f;
            return (Vec3){light.x * (1 - 0.5f * share), light.y * (1 - 0.3f * share), light.z};
        }
        origin = plus(origin, distance, direction);
        Vec3 normal = {origin.x - hit->centre[0], origin.y - hit->centre[1], origin.z - hit->centre[2]};
        const float sign = dot(normal, direction) > 0 ? -1 : 1;
        normal = plus((Vec3){0, 0, 0}, sign / hit->radius, normal);
        light = (Vec3){light.x * hit->colour[0], light.y * hit->colour[1], light.z * hit->colour[2]};
        direction = normalized(plus(normal, 0.9f, in_unit_ball(state)));
    }
    return (Vec3){0, 0, 0};
}

void path_trace(const Camera *camera, const Sphere *spheres, Vec4 *image, int64_t count) {
    const int64_t width = camera->size[0], height = camera->size[1];
#pragma omp parallel for schedule(dynamic)
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            uint32_t state = (uint32_t)(y * width + x) * 9781u + camera->seed;
            Vec3 colour = {0, 0, 0};
            for (uint32_t sample = 0; sample < camera->samples; sample++) {
                const float u = x + draw(&state), v = y + draw(&state);
                const Vec3 way = {(2 * u - width) / height, -(2 * v - height) / height, camera->zoom};
                const Vec3 origin = {camera->position[0], camera->position[1], camera->position[2]};
                colour = plus(colour, 1, trace(spheres, count, origin, normalized(way), &state));
            }
            const float share = 1.0f / camera->samples;
            image[y * width + x] = (Vec4){colour.x * share, colour.y * share, colour.z * share, 1};
        }
    }
}
