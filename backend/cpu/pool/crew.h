// The worker threads that share the dispatches of a process. They do not use Python: no part of a dispatch waits
// for the interpreter's lock, so other threads that run Python code do not slow kernels down.
#ifndef TINCT_CREW_H
#define TINCT_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stop.h"

// Machine code that runs the threads [begin, end) of a dispatch. It takes no locks and allocates nothing, since a
// stopped job leaves it at any instruction.
typedef void (*Entry)(void *const *bindings, const uint64_t *numbers, uint64_t begin, uint64_t end, void *scratch);

// The initial value of the words of private copies, and the operation that combines them.
typedef struct {
    const char *name;
    uint32_t identity;
    void (*merge)(uint32_t *target, const uint32_t *source, size_t words);
} Kind;

// The kind with this name: add, and, or, xor, smin, smax, umin or umax; null for other names.
const Kind *kind_named(const char *name);

// A binding of which each worker but the first has a copy of its own, merged when all have ended.
typedef struct {
    size_t binding, words;
    const Kind *kind;
} Private;

typedef struct {
    Entry entry;
    void *const *bindings;
    size_t binding_count;
    const uint64_t *numbers;
    uint64_t count;
    size_t scratch; // bytes for each worker
    const Private *privates;
    size_t private_count;
    Stop *stop;
    bool stops_caller; // whether the job may be stopped while the caller's thread is in machine code
    double each;       // in and out: the estimated seconds of a thread, 0 if unknown
} Job;

typedef struct Crew Crew;

// Called at intervals while a job runs or waits, in the caller's thread, outside machine code. False stops the job.
typedef bool (*MayGoOn)(void *context);

// A job is STOPPED by `stop_raise`, possibly just after it was complete, and INTERRUPTED by `MayGoOn`. FORKED: this is
// the child of a fork that happened in `MayGoOn`, and has none of the other workers.
typedef enum { DONE, STOPPED, INTERRUPTED, OUT_OF_MEMORY, FORKED } Result;

// Null if out of memory. Threads are started when they are first needed.
Crew *crew_new(size_t workers);

size_t crew_size(const Crew *crew);

// Runs a job once no other job is running; the caller's thread is one of the workers. A job that is started inside
// `MayGoOn` of the same thread runs in that thread alone. All workers have left the job when the function returns.
Result crew_do(Crew *crew, Job *job, MayGoOn may_go_on, void *context);

// Ends the threads. In the child of a fork it does nothing: there are no threads, and locks may never be released.
void crew_free(Crew *crew);

#endif
