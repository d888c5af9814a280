// Runs one dispatch of a kernel's machine code on another kind of processor, in an emulator.
//
// Standard input, in 64-bit words: how many buffers, how many dynamic constants, the number of threads, and the bytes
// of scratch memory; then the bytes of each buffer; then the constants; then the buffers' contents. Standard output
// gets the contents of all buffers after the dispatch. The kernel's interface is that of `backend/cpu/emit.py`.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, UNSET = 0xA5 };

void kernel(char **buffers, const uint64_t *constants, uint64_t begin, uint64_t end, char *scratch);

static void fail(const char *reason) {
    fprintf(stderr, "%s\n", reason);
    exit(1);
}

static void take(void *target, size_t bytes) {
    if (fread(target, 1, bytes, stdin) != bytes)
        fail("the job is cut off");
}

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

int main(void) {
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
    kernel(buffers, constants, 0, head[2], scratch);
    for (uint64_t i = 0; i < count; i++)
        if (fwrite(buffers[i], 1, sizes[i], stdout) != sizes[i])
            fail("the results cannot be written");
    return fflush(stdout) ? 1 : 0;
}
