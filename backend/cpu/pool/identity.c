#include "identity.h"

#if defined(__x86_64__)
#include <cpuid.h>

typedef struct {
    uint32_t leaf, subleaf;
    uint32_t masks[4]; // which bits of EAX, EBX, ECX and EDX are the same on all cores
} Leaf;

// Intel's manual, volume 2A, CPUID, and AMD's manual, volume 3, appendix E: vendor, model and extensions, and the
// model's name. Left out are the numbers of cores and of their interrupt controllers.
static const Leaf LEAVES[] = {
    {0x0, 0, {0, ~0u, ~0u, ~0u}},
    {0x1, 0, {~0u, 0, ~0u, ~0u}},
    {0x7, 0, {~0u, ~0u, ~0u, ~0u}},
    {0x7, 1, {~0u, ~0u, ~0u, ~0u}},
    {0xd, 1, {~0u, 0, 0, 0}},
    {0x14, 0, {~0u, ~0u, ~0u, ~0u}},
    {0x19, 0, {0, ~0u, 0, 0}},
    {0x1e, 1, {~0u, 0, 0, 0}},
    {0x24, 0, {0, ~0u, 0, 0}},
    {0x80000001, 0, {~0u, ~0u, ~0u, ~0u}},
    {0x80000002, 0, {~0u, ~0u, ~0u, ~0u}},
    {0x80000003, 0, {~0u, ~0u, ~0u, ~0u}},
    {0x80000004, 0, {~0u, ~0u, ~0u, ~0u}},
    {0x80000008, 0, {0, ~0u, 0, 0}},
};
enum { LEAF_COUNT = sizeof LEAVES / sizeof *LEAVES, SAVES_STATE = 1 << 27 };
_Static_assert(4 * LEAF_COUNT + 2 <= IDENTITY_WORDS, "the words of all leaves, and of XCR0");

// Writes XCR0: which registers the system saves, without which their instructions cannot be used.
static void saved_registers(uint32_t words[2]) { __asm__("xgetbv" : "=a"(words[0]), "=d"(words[1]) : "c"(0)); }

size_t identity_of_processor(uint32_t words[IDENTITY_WORDS]) {
    size_t count = 0;
    uint32_t found[4], features[4] = {0};
    __get_cpuid(1, &features[0], &features[1], &features[2], &features[3]);
    for (size_t i = 0; i < LEAF_COUNT; i++) {
        const Leaf *leaf = &LEAVES[i];
        const int is_there = __get_cpuid_count(leaf->leaf, leaf->subleaf, &found[0], &found[1], &found[2], &found[3]);
        for (size_t j = 0; j < 4; j++) {
            words[count++] = is_there ? found[j] & leaf->masks[j] : 0;
        }
    }
    if ((features[2] & SAVES_STATE) != 0) {
        saved_registers(&words[count]);
        count += 2;
    }
    return count;
}
#else
size_t identity_of_processor(uint32_t words[IDENTITY_WORDS]) {
    (void)words;
    return 0;
}
#endif
