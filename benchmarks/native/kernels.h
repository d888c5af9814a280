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

enum { REDUCE_BLOCK = 512, HILLIS_STEELE_BLOCK = 256, BLELLOCH_BLOCK = 128, SORT_BLOCK = 128, BINS = 256 };

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

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
