/* Bodies, flocks, colours, light, with the workgroups, barriers and indices of the WGSL. */

typedef struct { uint count; float time_step, softening_squared; } NbodyParams;
typedef struct { float2 swirl[2], gravity, half_size; float time_step, lifetime, restitution; } World;
typedef struct { float2 position, velocity; uint kind; float age; uint bounces; } Particle;

#define BODIES 64

kernel void nbody(global const NbodyParams *params, global const float4 *bodies, global float4 *velocities,
                  global float4 *moved, uint c0, uint c1, uint c2) {
    local float4 tile[BODIES];
    uint i = get_global_id(0), l = get_local_id(0), n = params->count;
    float softening = params->softening_squared, step = params->time_step;
    float4 me = bodies[min(i, n - 1)];
    float3 acceleration = 0;
    for (uint start = 0; start < n; start += BODIES) {
        tile[l] = start + l < n ? bodies[start + l] : (float4)(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < BODIES; j++) {
            float3 way = tile[j].xyz - me.xyz;
            float inverse = rsqrt(dot(way, way) + softening);
            acceleration += tile[j].w * inverse * inverse * inverse * way;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i >= n) return;
    float3 velocity = velocities[i].xyz + step * acceleration;
    velocities[i] = (float4)(velocity, 0);
    moved[i] = (float4)(me.xyz + step * velocity, me.w);
}

bool bounce(private float *coordinate, private float *speed, float half_size, float restitution) {
    float outside = fabs(*coordinate) - half_size;
    if (outside <= 0) return false;
    *coordinate -= 2.0f * outside * sign(*coordinate);
    *speed *= -restitution;
    return true;
}

kernel void particles(global const World *world, global Particle *particles, uint count) {
    uint i = get_global_id(0);
    if (i >= count) return;
    Particle p = particles[i];
    if (p.kind == 1) p.velocity = world->swirl[0] * p.velocity.x + world->swirl[1] * p.velocity.y;
    if (p.kind == 2) p.velocity += world->time_step * world->gravity;
    if (p.kind > 2 || (p.kind == 2 && p.age >= world->lifetime)) {
        particles[i] = (Particle){(float2)(0), (float2)(0), 0, 0, 0};
        return;
    }
    float2 at = p.position + world->time_step * p.velocity;
    float x = at.x, y = at.y, u = p.velocity.x, v = p.velocity.y;
    p.bounces += bounce(&x, &u, world->half_size.x, world->restitution);
    p.bounces += bounce(&y, &v, world->half_size.y, world->restitution);
    p.position = (float2)(x, y);
    p.velocity = (float2)(u, v);
    p.age += world->time_step;
    particles[i] = p;
}

#define K 16

kernel void kmeans_assign(global const uint *pixels, global const float4 *colours, global uint *labels,
                          global volatile uint *totals, uint count, uint c1) {
    local volatile uint own[4 * K];
    uint i = get_global_id(0), l = get_local_id(0);
    own[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < count) {
        uint red = pixels[i] & 255, green = pixels[i] >> 8 & 255, blue = pixels[i] >> 16 & 255, nearest = 0;
        float3 colour = (float3)(red, green, blue), d = colour - colours[0].xyz;
        float least = dot(d, d);
        for (uint c = 1; c < K; c++) {
            d = colour - colours[c].xyz;
            if (dot(d, d) < least) {
                least = dot(d, d);
                nearest = c;
            }
        }
        labels[i] = nearest;
        atomic_add(&own[4 * nearest], red);
        atomic_add(&own[4 * nearest + 1], green);
        atomic_add(&own[4 * nearest + 2], blue);
        atomic_inc(&own[4 * nearest + 3]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own[l] > 0) atomic_add(&totals[l], own[l]);
}

kernel void kmeans_update(global const float4 *points, global const uint *labels, global float *partial_sums, uint n,
                          uint c1, uint c2) {
    local float tile[64][4];
    local uint tile_labels[64];
    uint l = get_local_id(0), cluster = l / 4, coordinate = l % 4;
    float sum = 0;
    for (uint t = 0; t < 16; t++) {
        uint i = (get_group_id(0) * 16 + t) * 64 + l;
        tile_labels[l] = i < n ? labels[i] : K;
        if (i < n) vstore4(points[i], l, &tile[0][0]);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < 64; j++)
            if (tile_labels[j] == cluster) sum += tile[j][coordinate];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    partial_sums[get_group_id(0) * 64 + l] = sum;
}

typedef struct { float2 position, velocity; } Boid;
typedef struct { float time_step, sight, closest, near, cohesion, separation, alignment, top_speed; } Rules;
typedef struct { int2 grid; float cell, sight, closest, cohesion, separation, alignment, time_step; } Flock;

kernel void boids_all(global const Rules *rules, global const Boid *boids, global Boid *moved, uint count, uint c1) {
    uint index = get_global_id(0), in_sight = 0, neighbours = 0;
    if (index >= count) return;
    float2 position = boids[index].position, velocity = boids[index].velocity, centre = 0, away = 0, heading = 0;
    for (uint i = 0; i < count; i++) {
        if (i == index) continue;
        float2 offset = boids[i].position - position;
        float squared = dot(offset, offset);
        if (squared < rules->sight * rules->sight) {
            centre += boids[i].position;
            in_sight++;
        }
        if (squared < rules->closest * rules->closest) away -= offset;
        if (squared < rules->near * rules->near) {
            heading += boids[i].velocity;
            neighbours++;
        }
    }
    if (in_sight > 0) velocity += (centre / (float)in_sight - position) * rules->cohesion;
    velocity += away * rules->separation;
    if (neighbours > 0) velocity += heading / (float)neighbours * rules->alignment;
    float speed = length(velocity);
    if (speed > rules->top_speed) velocity *= rules->top_speed / speed;
    moved[index] = (Boid){position + velocity * rules->time_step, velocity};
}

kernel void boids_grid(global const Flock *flock, global const Boid *boids, global const int *cells,
                       global const uint *starts, global Boid *moved, uint count, uint c1, uint c2, uint c3) {
    uint id = get_global_id(0);
    if (id >= count) return;
    Boid me = boids[id];
    int2 grid = flock->grid, cell = (int2)(cells[id] % grid.x, cells[id] / grid.x);
    float2 offsets = 0, headings = 0, push = 0;
    float seen = 0;
    for (int y = max(cell.y - 1, 0); y <= min(cell.y + 1, grid.y - 1); y++) {
        for (int x = max(cell.x - 1, 0); x <= min(cell.x + 1, grid.x - 1); x++) {
            float2 corner = convert_float2((int2)(x, y) - cell) * flock->cell;
            int other_cell = y * grid.x + x;
            for (uint i = starts[other_cell]; i < starts[other_cell + 1]; i++) {
                float2 offset = corner + boids[i].position - me.position;
                float squared = dot(offset, offset);
                if (i == id || squared >= flock->sight * flock->sight) continue;
                offsets += offset;
                headings += boids[i].velocity;
                seen += 1;
                if (squared < flock->closest * flock->closest) push -= offset;
            }
        }
    }
    float2 velocity = me.velocity + flock->separation * push;
    if (seen > 0) velocity += flock->cohesion * (offsets / seen) + flock->alignment * (headings / seen - me.velocity);
    moved[id] = (Boid){me.position + flock->time_step * velocity, velocity};
}

typedef struct { uint2 size; uint samples, seed; float position[3]; float zoom; } Camera;
typedef struct { float centre[3]; float radius; float4 colour; } Sphere;

float draw(private uint *state) {
    uint next = *state = *state * 747796405u + 2891336453u;
    uint word = ((next >> ((next >> 28) + 4)) ^ next) * 277803737u;
    return (float)(((word >> 22) ^ word) >> 8) / 16777216.0f;
}

float meets(global const Sphere *sphere, float3 origin, float3 direction) {
    float3 way = vload3(0, sphere->centre) - origin;
    float along = dot(way, direction), discriminant = along * along - dot(way, way) + sphere->radius * sphere->radius;
    if (discriminant < 0) return 1e30f;
    float half_chord = sqrt(discriminant);
    if (along - half_chord > 1e-3f) return along - half_chord;
    return along + half_chord > 1e-3f ? along + half_chord : 1e30f;
}

float3 trace(global const Sphere *spheres, uint count, float3 origin, float3 direction, private uint *state) {
    float3 light = 1;
    for (uint bounce = 0; bounce < 4; bounce++) {
        float distance = 1e30f;
        uint hit = 0;
        for (uint i = 0; i < count; i++) {
            float d = meets(spheres + i, origin, direction);
            if (d < distance) {
                distance = d;
                hit = i;
            }
        }
        if (distance == 1e30f) return light * mix((float3)(1), (float3)(0.5f, 0.7f, 1), 0.5f * direction.y + 0.5f);
        origin += distance * direction;
        float3 normal = (origin - vload3(0, spheres[hit].centre)) / spheres[hit].radius, point = 1;
        if (dot(normal, direction) > 0) normal = -normal;
        light *= spheres[hit].colour.xyz;
        while (dot(point, point) > 1) {
            point.x = 2 * draw(state) - 1;
            point.y = 2 * draw(state) - 1;
            point.z = 2 * draw(state) - 1;
        }
        direction = normalize(normal + 0.9f * point);
    }
    return 0;
}

kernel void path_trace(global const Camera *camera, global const Sphere *spheres, global float4 *image, uint count,
                       uint c1) {
    uint2 id = (uint2)(get_global_id(0), get_global_id(1)), size = camera->size;
    if (id.x >= size.x || id.y >= size.y) return;
    uint index = id.y * size.x + id.x, state = index * 9781u + camera->seed;
    float3 colour = 0;
    for (uint sample = 0; sample < camera->samples; sample++) {
        float x = id.x + draw(&state), y = id.y + draw(&state);
        float2 at = (2.0f * (float2)(x, y) - convert_float2(size)) / (float)size.y;
        float3 way = normalize((float3)(at.x, -at.y, camera->zoom));
        colour += trace(spheres, count, vload3(0, camera->position), way, &state);
    }
    image[index] = (float4)(colour / (float)camera->samples, 1);
}
