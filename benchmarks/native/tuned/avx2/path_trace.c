/* Path tracing with a path in each lane. A lane whose path has ended begins the next one, of the same pixel or of the
   one 8 further in the row, so that all lanes stay at work up to the row's end. */
#include "lanes.h"

typedef struct { Floats x, y, z; } Vectors;

typedef struct {
    Words state;
    Ints column, sample, bounce;
    Vectors origin, direction, light, colour;
    Floats alive;
} Paths;

INLINE Vectors all_of(const float v[3]) { return (Vectors){floats(v[0]), floats(v[1]), floats(v[2])}; }

INLINE Floats dot(Vectors a, Vectors b) { return a.x * b.x + (a.y * b.y + a.z * b.z); }

INLINE Vectors minus(Vectors a, Vectors b) { return (Vectors){a.x - b.x, a.y - b.y, a.z - b.z}; }

/* a + factor * b */
INLINE Vectors plus(Vectors a, Floats factor, Vectors b) {
    return (Vectors){factor * b.x + a.x, factor * b.y + a.y, factor * b.z + a.z};
}

INLINE Vectors scaled(Vectors v, Floats factor) { return (Vectors){v.x * factor, v.y * factor, v.z * factor}; }

INLINE Vectors chosen_vectors(Vectors a, Floats where, Vectors b) {
    return (Vectors){chosen(a.x, where, b.x), chosen(a.y, where, b.y), chosen(a.z, where, b.z)};
}

INLINE Vectors normalized(Vectors v) { return scaled(v, inverse_sqrt(dot(v, v))); }

/* Numbers of [0, 1); the generators of the lanes of `where` go on. */
INLINE Floats draw(Paths *p, Floats where) {
    const Words next = p->state * words(747796405u) + words(2891336453u);
    const Words mixed = (next >> ((next >> 28) + 4)) ^ next, word = mixed * words(277803737u);
    p->state = (Words)chosen((Floats)p->state, where, (Floats)next);
    return _mm256_cvtepi32_ps((__m256i)((word >> 22 ^ word) >> 8)) * floats(1 / 16777216.0f);
}

INLINE Vectors draw_in_ball(Paths *p, Floats where) {
    const Floats two = floats(2), one = floats(1);
    Vectors point = {one, one, one};
    while (any(where)) {
        Vectors drawn;
        drawn.x = two * draw(p, where) - one;
        drawn.y = two * draw(p, where) - one;
        drawn.z = two * draw(p, where) - one;
        const Floats inside = only(where, at_most(dot(drawn, drawn), one));
        point = chosen_vectors(point, inside, drawn);
        where = _mm256_andnot_ps(inside, where);
    }
    return point;
}

/* The first spheres that the rays meet. */
INLINE Floats nearest_hits(const Paths *p, const Sphere *spheres, int64_t count, Ints *hits) {
    const Floats nearest = floats(NEAREST);
    Floats distance = floats(FARTHEST), hit = floats(0);
    for (int64_t i = 0; i < count; i++) {
        const Vectors way = minus(all_of(spheres[i].centre), p->origin);
        const Floats along = dot(way, p->direction);
        const Floats discriminant = along * along - dot(way, way) + floats(spheres[i].radius * spheres[i].radius);
        const Floats meets = only(p->alive, at_most(floats(0), discriminant));
        if (!any(meets)) continue;
        const Floats half_chord = _mm256_sqrt_ps(discriminant), entry = along - half_chord;
        const Floats first = chosen(along + half_chord, below(nearest, entry), entry);
        const Floats closer = only(only(meets, below(nearest, first)), below(first, distance));
        distance = chosen(distance, closer, first);
        hit = chosen(hit, closer, (Floats)ints((int)i));
    }
    *hits = (Ints)hit;
    return distance;
}

INLINE Vectors gathered(const float *first, Ints sphere) {
    const __m256i at = (__m256i)(sphere * 8);
    return (Vectors){_mm256_i32gather_ps(first, at, 4), _mm256_i32gather_ps(first + 1, at, 4),
                     _mm256_i32gather_ps(first + 2, at, 4)};
}

/* Lanes that hit nothing read sphere 0: there is one if any lane hit. */
INLINE void reflect(Paths *p, const Sphere *spheres, Floats where, Ints hits, Floats distance) {
    const Floats radius = _mm256_i32gather_ps(&spheres->radius, (__m256i)(hits * 8), 4);
    const Vectors point = plus(p->origin, distance, p->direction);
    Vectors normal = minus(point, gathered(spheres->centre, hits));
    const Floats is_inside = below(floats(0), dot(normal, p->direction)), inverse = floats(1) / radius;
    normal = scaled(normal, _mm256_xor_ps(inverse, only(is_inside, floats(-0.0f))));
    const Vectors colour = gathered(spheres->colour, hits);
    const Vectors light = {p->light.x * colour.x, p->light.y * colour.y, p->light.z * colour.z};
    const Vectors direction = normalized(plus(normal, floats(0.9f), draw_in_ball(p, where)));
    p->light = chosen_vectors(p->light, where, light);
    p->origin = chosen_vectors(p->origin, where, point);
    p->direction = chosen_vectors(p->direction, where, direction);
    p->bounce -= (Ints)where;
}

INLINE void add_sky(Paths *p, Floats where) {
    const Floats share = floats(0.5f) * p->direction.y + floats(0.5f);
    const Vectors sky = {floats(1) - floats(0.5f) * share, floats(1) - floats(0.3f) * share, floats(1)};
    p->colour.x += only(where, p->light.x * sky.x);
    p->colour.y += only(where, p->light.y * sky.y);
    p->colour.z += only(where, p->light.z);
}

INLINE void begin_paths(Paths *p, const Camera *camera, int64_t row, Floats where) {
    const float width = (float)camera->size[0], height = (float)camera->size[1];
    const Floats one = floats(1), two = floats(2), inverse = floats(1 / height);
    const Floats x = _mm256_cvtepi32_ps((__m256i)p->column) + draw(p, where), y = floats((float)row) + draw(p, where);
    const Vectors way = {(two * x - floats(width)) * inverse, (floats(height) - two * y) * inverse, floats(camera->zoom)};
    p->origin = chosen_vectors(p->origin, where, all_of(camera->position));
    p->direction = chosen_vectors(p->direction, where, normalized(way));
    p->light = chosen_vectors(p->light, where, (Vectors){one, one, one});
    p->bounce &= ~(Ints)where;
}

INLINE void begin_pixels(Paths *p, const Camera *camera, int64_t row, Floats where) {
    const Words index = (Words)p->column + (uint32_t)(row * camera->size[0]);
    const Floats zero = floats(0);
    p->state = (Words)chosen((Floats)p->state, where, (Floats)(index * 9781 + camera->seed));
    p->sample &= ~(Ints)where;
    p->colour = chosen_vectors(p->colour, where, (Vectors){zero, zero, zero});
}

static void store_pixels(const Paths *p, const Camera *camera, Vec4 *row, Floats where) {
    const float share = 1.0f / camera->samples;
    float red[W], green[W], blue[W];
    store(red, p->colour.x), store(green, p->colour.y), store(blue, p->colour.z);
    for (int left = any(where); left; left &= left - 1) {
        const int lane = __builtin_ctz((unsigned)left);
        row[p->column[lane]] = (Vec4){red[lane] * share, green[lane] * share, blue[lane] * share, 1};
    }
}

/* The lanes of `ended` begin their next path, if there is one. */
INLINE void go_on(Paths *p, const Camera *camera, Vec4 *image, int64_t row, Floats ended) {
    p->sample -= (Ints)ended;
    const Floats done = only(ended, (Floats)(p->sample >= (int)camera->samples));
    if (any(done)) {
        store_pixels(p, camera, image + row * camera->size[0], done);
        p->column += (Ints)done & W;
        p->alive = _mm256_andnot_ps(only(done, (Floats)(p->column >= (int)camera->size[0])), p->alive);
        begin_pixels(p, camera, row, only(done, p->alive));
    }
    begin_paths(p, camera, row, only(ended, p->alive));
}

void path_trace(const Camera *camera, const Sphere *spheres, Vec4 *image, int64_t count) {
#pragma omp parallel for schedule(dynamic)
    for (int64_t row = 0; row < camera->size[1]; row++) {
        Paths p = {.column = lane_numbers(), .alive = (Floats)lanes_left(camera->size[0])};
        begin_pixels(&p, camera, row, p.alive);
        begin_paths(&p, camera, row, p.alive);
        while (any(p.alive)) {
            Ints hits;
            const Floats distance = nearest_hits(&p, spheres, count, &hits);
            const Floats hit = only(p.alive, below(distance, floats(FARTHEST)));
            const Floats missed = _mm256_andnot_ps(hit, p.alive);
            add_sky(&p, missed);
            if (any(hit)) reflect(&p, spheres, hit, hits, distance);
            const Floats dark = only(hit, (Floats)(p.bounce >= BOUNCES)), ended = _mm256_or_ps(missed, dark);
            if (any(ended)) go_on(&p, camera, image, row, ended);
        }
    }
}
