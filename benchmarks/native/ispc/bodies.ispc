/* Bodies, flocks, colours, light; see parts.isph. */
#include "parts.isph"

struct NbodyParams { uint32 count; float time_step, softening_squared; };

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

struct Boid { float position[2], velocity[2]; };
struct Rules { float time_step, sight, closest, near, cohesion, separation, alignment, top_speed; };

task void boids_all_part(const uniform Rules *uniform rules, const uniform Boid boids[], uniform Boid moved[],
                         uniform int count) {
    uniform float sight = rules->sight * rules->sight, closest = rules->closest * rules->closest;
    uniform float near = rules->near * rules->near;
    foreach (i = BEGIN(256) ... END(count, 256)) {
        float x = boids[i].position[0], y = boids[i].position[1], vx = boids[i].velocity[0], vy = boids[i].velocity[1];
        float cx = 0, cy = 0, ax = 0, ay = 0, hx = 0, hy = 0, in_sight = 0, neighbours = 0;
        for (uniform int j = 0; j < count; j++) {
            float dx = boids[j].position[0] - x, dy = boids[j].position[1] - y;
            float squared = dx * dx + dy * dy;
            if (j == i) continue;
            if (squared < sight) {
                cx += boids[j].position[0];
                cy += boids[j].position[1];
                in_sight++;
            }
            if (squared < closest) {
                ax -= dx;
                ay -= dy;
            }
            if (squared < near) {
                hx += boids[j].velocity[0];
                hy += boids[j].velocity[1];
                neighbours++;
            }
        }
        if (in_sight > 0) {
            vx += (cx / in_sight - x) * rules->cohesion;
            vy += (cy / in_sight - y) * rules->cohesion;
        }
        vx += ax * rules->separation;
        vy += ay * rules->separation;
        if (neighbours > 0) {
            vx += hx / neighbours * rules->alignment;
            vy += hy / neighbours * rules->alignment;
        }
        float speed = sqrt(vx * vx + vy * vy);
        if (speed > rules->top_speed) {
            vx *= rules->top_speed / speed;
            vy *= rules->top_speed / speed;
        }
        moved[i].position[0] = x + vx * rules->time_step;
        moved[i].position[1] = y + vy * rules->time_step;
        moved[i].velocity[0] = vx;
        moved[i].velocity[1] = vy;
    }
}

export void boids_all(const uniform Rules *uniform rules, const uniform Boid boids[], uniform Boid moved[],
                      uniform int64 count) {
    launch[PARTS(count, 256)] boids_all_part(rules, boids, moved, count);
}

struct Camera { uint32 size[2], samples, seed; float position[3], zoom; };
struct Sphere { float centre[3], radius, colour[4]; };

static inline float draw(uint32 &state) {
    state = state * 747796405 + 2891336453;
    uint32 word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737;
    return (float)(int32)(((word >> 22) ^ word) >> 8) / 16777216.0f;
}

/* The light along a ray from (x, y, z) in the direction (dx, dy, dz), added to the sums. */
static void trace(const uniform Sphere spheres[], uniform int count, float x, float y, float z, float dx, float dy,
                  float dz, uint32 &state, float &red_sum, float &green_sum, float &blue_sum) {
    float red = 1, green = 1, blue = 1;
    for (uniform int bounce = 0; bounce < 4; bounce++) {
        float distance = 1e30f;
        int hit = 0;
        for (uniform int i = 0; i < count; i++) {
            float wx = spheres[i].centre[0] - x, wy = spheres[i].centre[1] - y, wz = spheres[i].centre[2] - z;
            float along = wx * dx + wy * dy + wz * dz, radius = spheres[i].radius;
            float discriminant = along * along - (wx * wx + wy * wy + wz * wz) + radius * radius;
            if (discriminant >= 0) {
                float half_chord = sqrt(discriminant);
                float met = along - half_chord > 1e-3f ? along - half_chord : along + half_chord;
                if (met > 1e-3f && met < distance) {
                    distance = met;
                    hit = i;
                }
            }
        }
        if (distance == 1e30f) {
            float share = 0.5f * dy + 0.5f;
            red_sum += red * (1 - 0.5f * share);
            green_sum += green * (1 - 0.3f * share);
            blue_sum += blue;
            return;
        }
        x += distance * dx;
        y += distance * dy;
        z += distance * dz;
        float inverse = 1 / spheres[hit].radius;
        float nx = (x - spheres[hit].centre[0]) * inverse, ny = (y - spheres[hit].centre[1]) * inverse;
        float nz = (z - spheres[hit].centre[2]) * inverse;
        float side = nx * dx + ny * dy + nz * dz > 0 ? -1 : 1;
        red *= spheres[hit].colour[0];
        green *= spheres[hit].colour[1];
        blue *= spheres[hit].colour[2];
        float px = 1, py = 1, pz = 1;
        while (px * px + py * py + pz * pz > 1) {
            px = 2 * draw(state) - 1;
            py = 2 * draw(state) - 1;
            pz = 2 * draw(state) - 1;
        }
        dx = side * nx + 0.9f * px;
        dy = side * ny + 0.9f * py;
        dz = side * nz + 0.9f * pz;
        float scale = 1 / sqrt(dx * dx + dy * dy + dz * dz);
        dx *= scale;
        dy *= scale;
        dz *= scale;
    }
}

task void path_trace_row(const uniform Camera *uniform camera, const uniform Sphere spheres[], uniform float image[],
                         uniform int count) {
    uniform int row = taskIndex, width = camera->size[0], height = camera->size[1];
    uniform float zoom = camera->zoom;
    foreach (column = 0 ... width) {
        uint32 state = (row * width + column) * 9781 + camera->seed;
        float red = 0, green = 0, blue = 0;
        for (uniform int sample = 0; sample < camera->samples; sample++) {
            float u = column + draw(state), v = row + draw(state);
            float x = (2 * u - width) / height, y = -(2 * v - height) / height;
            float scale = 1 / sqrt(x * x + y * y + zoom * zoom);
            trace(spheres, count, camera->position[0], camera->position[1], camera->position[2], x * scale, y * scale,
                  zoom * scale, state, red, green, blue);
        }
        uniform float share = 1.0f / camera->samples;
        int pixel = 4 * (row * width + column);
        image[pixel] = red * share;
        image[pixel + 1] = green * share;
        image[pixel + 2] = blue * share;
        image[pixel + 3] = 1;
    }
}

export void path_trace(const uniform Camera *uniform camera, const uniform Sphere spheres[], uniform float image[],
                       uniform int64 count) {
    launch[camera->size[1]] path_trace_row(camera, spheres, image, count);
}
