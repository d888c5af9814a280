/* What the C kernels have in common.

   Every kernel is a function of its WGSL file's name. Its parameters are the bindings in order, each a pointer, then
   the number of elements of every runtime-sized array among them, in the same order. */
#ifndef KERNELS_H
#define KERNELS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct { float a; uint32_t n; } SaxpyParams;
typedef struct { float centre[2]; float pixel; uint32_t limit; uint32_t size[2]; } View;
typedef struct { uint32_t m, k, n; } MatmulSize;
typedef struct { uint32_t count; float time_step, softening_squared; } NbodyParams;
typedef struct { uint32_t seed, rounds; } HashParams;
typedef struct { uint32_t block, reach; } Step;
typedef struct { uint32_t darkest, brightest; } Range;
typedef struct { uint32_t index; float value; } Kept;
typedef struct { uint32_t column; float value; } Element;
typedef struct { float x, y, z, w; } Vec4;
typedef struct { float swirl[2][2], gravity[2], half_size[2], time_step, lifetime, restitution; } World;
typedef struct { float position[2], velocity[2]; uint32_t kind; float age; uint32_t bounces, padding; } Particle;
typedef struct { float position[2], velocity[2]; } Boid;
typedef struct { float time_step, sight, closest, near, cohesion, separation, alignment, top_speed; } Rules;
typedef struct { int32_t grid[2]; float cell, sight, closest, cohesion, separation, alignment, time_step; } Flock;
typedef struct { uint32_t size[2], samples, seed; float position[3], zoom; } Camera;
typedef struct { float centre[3], radius, colour[4]; } Sphere;
typedef struct { uint32_t queries, keys; } AttentionParams;
typedef struct { uint32_t rows, places; } EllMatrix;
typedef struct { uint32_t size[2]; float nearness, likeness; } Filter;
typedef struct { int32_t size[2], reach; } Flood;
typedef struct { uint32_t nx, ny, nz; float rate; } Grid;
typedef struct { uint32_t key, value; } Record;
typedef struct { int32_t size[2], radius; } BoxBlur;
typedef struct { float nearest, farthest; } Depths;
typedef struct { uint32_t m, words, n; } BytesSize;

enum { BALLOT_BLOCK = 256, REDUCE_BLOCK = 512, HALVING_BLOCK = 256, INTERLEAVED_BLOCK = 256, RING = 128, STRIDED_BLOCK = 256 };
enum { HILLIS_STEELE_BLOCK = 256, BLELLOCH_BLOCK = 128, PAIRS_BLOCK = 512, KOGGE_STONE_BLOCK = 256 };
enum { RAKING_BLOCK = 1024, SKLANSKY_BLOCK = 512 };
enum { SORT_BLOCK = 128, PAIRS_SORT_BLOCK = 512, RECORDS_SORT_BLOCK = 1024, RADIX_BLOCK = 1024, RADIX = 16 };
enum { BINS = 256, BLOCKED_BINS = 128, FFT_POINTS = 256, HEAD = 32, CLUSTERS = 16, UPDATE_PART = 1024 };
enum { CONVOLVE_RADIUS = 8, TAPS = 2 * CONVOLVE_RADIUS + 1, BILATERAL_RADIUS = 3, BOUNCES = 4 };

#define NEAREST 1e-3f
#define FARTHEST 1e30f

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* fminf and fmaxf are calls unless NaNs are ruled out. */
static inline float clampf(float value, float low, float high) {
    const float raised = value > low ? value : low;
    return raised < high ? raised : high;
}

static inline uint32_t escape_colour(uint32_t steps, uint32_t limit) {
    if (steps == limit) return 0xff000000u;
    uint32_t red = 8 * steps < 255 ? 8 * steps : 255;
    uint32_t green = 5 * steps % 256;
    uint32_t blue = 255 - (4 * steps < 255 ? 4 * steps : 255);
    return 0xff000000u | blue << 16 | green << 8 | red;
}

static inline uint32_t pcg(uint32_t input) {
    uint32_t state = input * 747796405u + 2891336453u;
    uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}

static inline float unit_float(uint32_t hash) {
    uint32_t bits = 0x3f800000u | hash >> 9;
    float number;
    memcpy(&number, &bits, sizeof number);
    return number - 1.0f;
}

#endif
