// The private copies that workers have of some bindings of a job: each worker combines what it computes in a copy of its
// own, which is merged into the binding when all have left the job.
#ifndef TINCT_COPIES_H
#define TINCT_COPIES_H

#include "crew.h"

// The alignment of a worker's memory.
enum { ALIGN = 64 };

// The copies of one worker for one job. They are kept when the worker leaves the job, for the next one.
typedef struct Copies {
    struct Copies *next;
    size_t size;
    bool is_used, is_filled;
    char *memory; // the copies, then the addresses of all bindings
} Copies;

// Makes memory at least `size` bytes large, without its contents. False if out of memory.
bool has_room(char **memory, size_t *room, size_t size);

// Bytes of the copies of one worker.
size_t copies_size(const Job *job);

// Copies that no worker uses, from the list of the job, else from the spare ones; null if out of memory.
Copies *copies_take(Copies **of_job, Copies **spare, const Job *job);

// The bindings for the worker that uses the copies, which are filled at first.
void *const *copies_bindings(Copies *copies, const Job *job);

// Combines all copies of a job with its bindings.
void copies_merge(const Copies *of_job, const Job *job);

// Adds the copies of a job, of which there are some, to the spare ones.
void copies_give_back(Copies *of_job, Copies **spare);

void copies_free(Copies *spare);

#endif
