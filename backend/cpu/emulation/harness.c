// Runs one dispatch of a kernel's machine code on another kind of processor, in an emulator.
//
// The argument names a file with an image of machine code, as `backend/cpu/images.py` makes it: 64-bit words for its
// bytes, the bytes of code, where the kernel begins, and how many slots there are; for each slot its place in a word, and
// a function's name in as many bytes as a NAME; then the image.
//
// Standard input, in 64-bit words: how many buffers, how many dynamic constants, the number of threads, and the bytes
// of scratch memory; then the bytes of each buffer; then the constants; then the buffers' contents. Standard output
// gets the contents of all buffers after the dispatch. The kernel's interface is that of `backend/cpu/emit.py`.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pool/code.h"

enum { ALIGNMENT = 64, UNSET = 0xA5, NAME = 32 };

typedef void (*Kernel)(char **buffers, const uint64_t *constants, uint64_t begin, uint64_t end, char *scratch,
                       bool is_shared);

// The functions that LLVM calls.
static const struct {
    const char *name;
    uintptr_t address;
} FUNCTIONS[] = {
    {"memcpy", (uintptr_t)memcpy},         {"memmove", (uintptr_t)memmove},     {"memset", (uintptr_t)memset},
    {"fmod", (uintptr_t)(double (*)(double, double))fmod}, {"fmodf", (uintptr_t)(float (*)(float, float))fmodf},
};

static void fail(const char *reason) {
    fprintf(stderr, "%s\n", reason);
    exit(1);
}

static void take_from(FILE *file, void *target, size_t bytes) {
    if (fread(target, 1, bytes, file) != bytes)
        fail("the job is cut off");
}

static void take(void *target, size_t bytes) { take_from(stdin, target, bytes); }

static char *memory(uint64_t bytes) {
    char *found = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
    if (!found)
        fail("not enough memory");
    return found;
}

static uint64_t *words(uint64_t count) {
    uint64_t *found = (uint64_t *)memory(count * sizeof(uint64_t));
    take(found, count * sizeof(uint64_t));
    return found;
}

static uintptr_t function_named(const char *name) {
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++)
        if (strncmp(FUNCTIONS[i].name, name, NAME) == 0)
            return FUNCTIONS[i].address;
    fail("the kernel calls a function that is not here");
    return 0;
}

static Kernel load(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("there is no image");
    uint64_t head[4];
    take_from(file, head, sizeof head);
    Slot *slots = (Slot *)memory(head[3] * sizeof(Slot));
    for (uint64_t i = 0; i < head[3]; i++) {
        uint64_t offset;
        char name[NAME];
        take_from(file, &offset, sizeof offset);
        take_from(file, name, sizeof name);
        slots[i] = (Slot){offset, function_named(name)};
    }
    char *image = memory(head[0]);
    take_from(file, image, head[0]);
    fclose(file);
    Code code;
    if (code_load(&code, image, head[0], head[1], slots, head[3]) != CODE_LOADED)
        fail("the image cannot be loaded");
    return (Kernel)(uintptr_t)(code.start + head[2]);
}

int main(int count_of_arguments, char **arguments) {
    if (count_of_arguments != 2)
        fail("the image is missing");
    const Kernel kernel = load(arguments[1]);
    uint64_t *head = words(4);
    uint64_t count = head[0];
    uint64_t *sizes = words(count), *constants = words(head[1]);
    char **buffers = (char **)memory(count * sizeof(char *));
    for (uint64_t i = 0; i < count; i++) {
        buffers[i] = memory(sizes[i]);
        take(buffers[i], sizes[i]);
    }
    char *scratch = memory(head[3]);
    memset(scratch, UNSET, head[3]); // no value may come from memory that was never written
    kernel(buffers, constants, 0, head[2], scratch, false);
    for (uint64_t i = 0; i < count; i++)
        if (fwrite(buffers[i], 1, sizes[i], stdout) != sizes[i])
            fail("the results cannot be written");
    return fflush(stdout) ? 1 : 0;
}
