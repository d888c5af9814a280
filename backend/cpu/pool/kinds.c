#include "kinds.h"

#include <string.h>

#define MERGE(NAME, VALUE)                                                                                             \
    static void merge_##NAME(uint32_t *target, const uint32_t *source, size_t words) {                                 \
        for (size_t i = 0; i < words; i++) {                                                                           \
            const uint32_t a = target[i], b = source[i];                                                               \
            target[i] = VALUE;                                                                                         \
        }                                                                                                              \
    }
MERGE(add, a + b)
MERGE(and, a & b)
MERGE(or, a | b)
MERGE(xor, a ^ b)
MERGE(smin, (int32_t)a < (int32_t)b ? a : b)
MERGE(smax, (int32_t)a > (int32_t)b ? a : b)
MERGE(umin, a < b ? a : b)
MERGE(umax, a > b ? a : b)

const Kind *kind_named(const char *name) {
    static const Kind KINDS[] = {
        {"add", 0, merge_add},
        {"and", UINT32_MAX, merge_and},
        {"or", 0, merge_or},
        {"xor", 0, merge_xor},
        {"smin", INT32_MAX, merge_smin},
        {"smax", (uint32_t)INT32_MIN, merge_smax},
        {"umin", UINT32_MAX, merge_umin},
        {"umax", 0, merge_umax},
    };
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(KINDS[i].name, name) == 0) {
            return &KINDS[i];
        }
    }
    return NULL;
}
