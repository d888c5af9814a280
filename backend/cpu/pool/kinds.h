// How the private copies of workers are combined with what they are copies of.
#ifndef TINCT_KINDS_H
#define TINCT_KINDS_H

#include <stddef.h>
#include <stdint.h>

// The initial value of the words of private copies, and the operation that combines them.
typedef struct {
    const char *name;
    uint32_t identity;
    void (*merge)(uint32_t *target, const uint32_t *source, size_t words);
} Kind;

// The kind with this name: add, and, or, xor, smin, smax, umin or umax; null for other names.
const Kind *kind_named(const char *name);

#endif
