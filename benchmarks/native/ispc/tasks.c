/* ISPC's three task functions on OpenMP: a launch runs its tasks at once and returns when all are done. */
#include <stdint.h>
#include <stdlib.h>

typedef void Task(void *data, int thread, int threads, int task, int tasks, int x, int y, int z, int xs, int ys, int zs);
typedef struct Block { struct Block *next; } Block;

void *ISPCAlloc(void **handle, int64_t size, int32_t alignment) {
    const int64_t header = 64 > alignment ? 64 : alignment;
    Block *block = aligned_alloc(header, (header + size + header - 1) / header * header);
    block->next = *handle;
    *handle = block;
    return (char *)block + header;
}

void ISPCLaunch(void **handle, void *function, void *data, int xs, int ys, int zs) {
    Task *run = (Task *)function;
    const int tasks = xs * ys * zs;
    (void)handle;
#pragma omp parallel for schedule(dynamic)
    for (int task = 0; task < tasks; task++)
        run(data, 0, 1, task, tasks, task % xs, task / xs % ys, task / (xs * ys), xs, ys, zs);
}

void ISPCSync(void *handle) {
    for (Block *block = handle; block;) {
        Block *next = block->next;
        free(block);
        block = next;
    }
}
