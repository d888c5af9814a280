/* Path tracing with a path in each lane. A lane whose path has ended begins the next one, of the same pixel or of the
   one 16 further in the row, so that all lanes stay at work up to the row's end. */
#include "lanes.h"

typedef struct { __m512 x, y, z; } Vectors;

typedef struct {
    __m512i state, column, sample, bounce;
    Vectors origin, direction, light, colour;
    __mmask16 alive;
} Paths;

INLINE Vectors all_of(const float v[3]) {
    return (Vectors){_mm512_set1_ps(v[0]), _mm512_set1_ps(v[1]), _mm512_set1_ps(v[2])};
}

INLINE __m512 dot(Vectors a, Vectors b) {
    return _mm512_fmadd_ps(a.x, b.x, _mm512_fmadd_ps(a.y, b.y, _mm512_mul_ps(a.z, b.z)));
}

INLINE Vectors minus(Vectors a, Vectors b) {
    return (Vectors){_mm512_sub_ps(a.x, b.x), _mm512_sub_ps(a.y, b.y), _mm512_sub_ps(a.z, b.z)};
}

/* a + factor * b */
INLINE Vectors plus(Vectors a, __m512 factor, Vectors b) {
    return (Vectors){_mm512_fmadd_ps(factor, b.x, a.x), _mm512_fmadd_ps(factor, b.y, a.y),
                     _mm512_fmadd_ps(factor, b.z, a.z)};
}

INLINE Vectors scaled(Vectors v, __m512 factor) {
    return (Vectors){_mm512_mul_ps(v.x, factor), _mm512_mul_ps(v.y, factor), _mm512_mul_ps(v.z, factor)};
}

INLINE Vectors chosen(Vectors a, __mmask16 where, Vectors b) {
    return (Vectors){_mm512_mask_mov_ps(a.x, where, b.x), _mm512_mask_mov_ps(a.y, where, b.y),
                     _mm512_mask_mov_ps(a.z, where, b.z)};
}

INLINE Vectors normalized(Vectors v) {
    const __m512 squared = dot(v, v), guess = _mm512_rsqrt14_ps(squared);
    const __m512 error = _mm512_fnmadd_ps(_mm512_mul_ps(squared, guess), guess, _mm512_set1_ps(1));
    return scaled(v, _mm512_fmadd_ps(_mm512_mul_ps(_mm512_set1_ps(0.5f), guess), error, guess));
}

/* Numbers of [0, 1); the generators of the lanes of `where` go on. */
INLINE __m512 draw(Paths *p, __mmask16 where) {
    const __m512i factor = _mm512_set1_epi32(747796405), term = _mm512_set1_epi32((int)2891336453u);
    const __m512i next = _mm512_add_epi32(_mm512_mullo_epi32(p->state, factor), term);
    const __m512i shift = _mm512_add_epi32(_mm512_srli_epi32(next, 28), _mm512_set1_epi32(4));
    const __m512i mixed = _mm512_xor_si512(_mm512_srlv_epi32(next, shift), next);
    const __m512i word = _mm512_mullo_epi32(mixed, _mm512_set1_epi32(277803737));
    const __m512i bits = _mm512_srli_epi32(_mm512_xor_si512(_mm512_srli_epi32(word, 22), word), 8);
    p->state = _mm512_mask_mov_epi32(p->state, where, next);
    return _mm512_mul_ps(_mm512_cvtepi32_ps(bits), _mm512_set1_ps(1 / 16777216.0f));
}

INLINE Vectors draw_in_ball(Paths *p, __mmask16 where) {
    const __m512 two = _mm512_set1_ps(2), one = _mm512_set1_ps(1);
    Vectors point = {one, one, one};
    while (where) {
        Vectors drawn;
        drawn.x = _mm512_fmsub_ps(two, draw(p, where), one);
        drawn.y = _mm512_fmsub_ps(two, draw(p, where), one);
        drawn.z = _mm512_fmsub_ps(two, draw(p, where), one);
        const __mmask16 inside = _mm512_mask_cmp_ps_mask(where, dot(drawn, drawn), one, _CMP_LE_OQ);
        point = chosen(point, inside, drawn);
        where &= ~inside;
    }
    return point;
}

/* The first spheres that the rays meet. */
INLINE __m512 nearest_hits(const Paths *p, const Sphere *spheres, int64_t count, __m512i *hits) {
    const __m512 nearest = _mm512_set1_ps(NEAREST);
    __m512 distance = _mm512_set1_ps(FARTHEST);
    *hits = _mm512_setzero_si512();
    for (int64_t i = 0; i < count; i++) {
        const Vectors way = minus(all_of(spheres[i].centre), p->origin);
        const __m512 along = dot(way, p->direction), radius = _mm512_set1_ps(spheres[i].radius * spheres[i].radius);
        const __m512 discriminant = _mm512_add_ps(_mm512_fmsub_ps(along, along, dot(way, way)), radius);
        const __mmask16 meets = _mm512_mask_cmp_ps_mask(p->alive, discriminant, _mm512_setzero_ps(), _CMP_GE_OQ);
        if (!meets) continue;
        const __m512 half_chord = _mm512_sqrt_ps(discriminant);
        const __m512 entry = _mm512_sub_ps(along, half_chord), exit = _mm512_add_ps(along, half_chord);
        const __m512 first = _mm512_mask_mov_ps(exit, _mm512_cmp_ps_mask(entry, nearest, _CMP_GT_OQ), entry);
        const __mmask16 ahead = _mm512_mask_cmp_ps_mask(meets, first, nearest, _CMP_GT_OQ);
        const __mmask16 closer = _mm512_mask_cmp_ps_mask(ahead, first, distance, _CMP_LT_OQ);
        distance = _mm512_mask_mov_ps(distance, closer, first);
        *hits = _mm512_mask_set1_epi32(*hits, closer, (int)i);
    }
    return distance;
}

INLINE Vectors gathered(const float *first, __mmask16 where, __m512i sphere) {
    const __m512i at = _mm512_slli_epi32(sphere, 3);
    const __m512 zero = _mm512_setzero_ps();
    return (Vectors){_mm512_mask_i32gather_ps(zero, where, at, first, 4),
                     _mm512_mask_i32gather_ps(zero, where, at, first + 1, 4),
                     _mm512_mask_i32gather_ps(zero, where, at, first + 2, 4)};
}

INLINE void reflect(Paths *p, const Sphere *spheres, __mmask16 where, __m512i hits, __m512 distance) {
    const __m512 one = _mm512_set1_ps(1), zero = _mm512_setzero_ps();
    const __m512 radius = _mm512_mask_i32gather_ps(one, where, _mm512_slli_epi32(hits, 3), &spheres->radius, 4);
    const Vectors point = plus(p->origin, distance, p->direction);
    Vectors normal = minus(point, gathered(spheres->centre, where, hits));
    const __mmask16 is_inside = _mm512_cmp_ps_mask(dot(normal, p->direction), zero, _CMP_GT_OQ);
    const __m512 inverse = _mm512_div_ps(one, radius);
    normal = scaled(normal, _mm512_mask_sub_ps(inverse, is_inside, zero, inverse));
    const Vectors colour = gathered(spheres->colour, where, hits);
    const Vectors light = {_mm512_mul_ps(p->light.x, colour.x), _mm512_mul_ps(p->light.y, colour.y),
                           _mm512_mul_ps(p->light.z, colour.z)};
    const Vectors direction = normalized(plus(normal, _mm512_set1_ps(0.9f), draw_in_ball(p, where)));
    p->light = chosen(p->light, where, light);
    p->origin = chosen(p->origin, where, point);
    p->direction = chosen(p->direction, where, direction);
    p->bounce = _mm512_mask_add_epi32(p->bounce, where, p->bounce, _mm512_set1_epi32(1));
}

INLINE void add_sky(Paths *p, __mmask16 where) {
    const __m512 half = _mm512_set1_ps(0.5f), one = _mm512_set1_ps(1);
    const __m512 share = _mm512_fmadd_ps(half, p->direction.y, half);
    const __m512 red = _mm512_fnmadd_ps(half, share, one), green = _mm512_fnmadd_ps(_mm512_set1_ps(0.3f), share, one);
    p->colour.x = _mm512_mask3_fmadd_ps(p->light.x, red, p->colour.x, where);
    p->colour.y = _mm512_mask3_fmadd_ps(p->light.y, green, p->colour.y, where);
    p->colour.z = _mm512_mask_add_ps(p->colour.z, where, p->colour.z, p->light.z);
}

INLINE void begin_paths(Paths *p, const Camera *camera, int64_t row, __mmask16 where) {
    const float width = (float)camera->size[0], height = (float)camera->size[1];
    const __m512 one = _mm512_set1_ps(1), two = _mm512_set1_ps(2), inverse = _mm512_set1_ps(1 / height);
    const __m512 x = _mm512_add_ps(_mm512_cvtepi32_ps(p->column), draw(p, where));
    const __m512 y = _mm512_add_ps(_mm512_set1_ps((float)row), draw(p, where));
    const Vectors way = {_mm512_mul_ps(_mm512_fmsub_ps(two, x, _mm512_set1_ps(width)), inverse),
                         _mm512_mul_ps(_mm512_fnmadd_ps(two, y, _mm512_set1_ps(height)), inverse),
                         _mm512_set1_ps(camera->zoom)};
    p->origin = chosen(p->origin, where, all_of(camera->position));
    p->direction = chosen(p->direction, where, normalized(way));
    p->light = chosen(p->light, where, (Vectors){one, one, one});
    p->bounce = _mm512_mask_set1_epi32(p->bounce, where, 0);
}

INLINE void begin_pixels(Paths *p, const Camera *camera, int64_t row, __mmask16 where) {
    const __m512i index = _mm512_add_epi32(p->column, _mm512_set1_epi32((int)(row * camera->size[0])));
    const __m512i scaled_index = _mm512_mullo_epi32(index, _mm512_set1_epi32(9781));
    const __m512i seed = _mm512_add_epi32(scaled_index, _mm512_set1_epi32((int)camera->seed));
    const __m512 zero = _mm512_setzero_ps();
    p->state = _mm512_mask_mov_epi32(p->state, where, seed);
    p->sample = _mm512_mask_set1_epi32(p->sample, where, 0);
    p->colour = chosen(p->colour, where, (Vectors){zero, zero, zero});
}

static void store_pixels(const Paths *p, const Camera *camera, Vec4 *row, __mmask16 where) {
    const float share = 1.0f / camera->samples;
    int32_t column[W];
    float red[W], green[W], blue[W];
    _mm512_storeu_si512(column, p->column);
    _mm512_storeu_ps(red, p->colour.x), _mm512_storeu_ps(green, p->colour.y), _mm512_storeu_ps(blue, p->colour.z);
    for (; where; where &= where - 1) {
        const int lane = __builtin_ctz(where);
        row[column[lane]] = (Vec4){red[lane] * share, green[lane] * share, blue[lane] * share, 1};
    }
}

/* The lanes of `ended` begin their next path, if there is one. */
INLINE void go_on(Paths *p, const Camera *camera, Vec4 *image, int64_t row, __mmask16 ended) {
    p->sample = _mm512_mask_add_epi32(p->sample, ended, p->sample, _mm512_set1_epi32(1));
    const __mmask16 done = _mm512_mask_cmpge_epu32_mask(ended, p->sample, _mm512_set1_epi32((int)camera->samples));
    if (done) {
        store_pixels(p, camera, image + row * camera->size[0], done);
        p->column = _mm512_mask_add_epi32(p->column, done, p->column, _mm512_set1_epi32(W));
        const __mmask16 past = _mm512_mask_cmpge_epu32_mask(done, p->column, _mm512_set1_epi32((int)camera->size[0]));
        p->alive &= ~past;
        begin_pixels(p, camera, row, done & ~past);
    }
    begin_paths(p, camera, row, ended & p->alive);
}

void path_trace(const Camera *camera, const Sphere *spheres, Vec4 *image, int64_t count) {
    const __m512 farthest = _mm512_set1_ps(FARTHEST);
#pragma omp parallel for schedule(dynamic)
    for (int64_t row = 0; row < camera->size[1]; row++) {
        Paths p = {.column = lane_numbers(), .alive = lanes_left(camera->size[0])};
        begin_pixels(&p, camera, row, p.alive);
        begin_paths(&p, camera, row, p.alive);
        while (p.alive) {
            __m512i hits;
            const __m512 distance = nearest_hits(&p, spheres, count, &hits);
            const __mmask16 hit = _mm512_mask_cmp_ps_mask(p.alive, distance, farthest, _CMP_LT_OQ);
            const __mmask16 missed = p.alive & ~hit;
            add_sky(&p, missed);
            reflect(&p, spheres, hit, hits, distance);
            const __mmask16 dark = _mm512_mask_cmpge_epi32_mask(hit, p.bounce, _mm512_set1_epi32(BOUNCES));
            if (missed | dark) go_on(&p, camera, image, row, missed | dark);
        }
    }
}
