// The worker threads that share the dispatches of a process. They know nothing of Python: no part of a dispatch waits
// for the interpreter's lock, and a program whose other threads are busy in Python does not slow its kernels down.
#ifndef TINCT_CREW_H
#define TINCT_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stop.h"

// Machine code: does the threads [begin, end) of a dispatch. It takes no locks and allocates nothing, since a stopped
// job leaves it in the middle.
typedef void (*Entry)(void *const *bindings, const uint64_t *numbers, uint64_t begin, uint64_t end, void *scratch);

// How the words of private copies begin, and how they are combined.
typedef struct {
    const char *name;
    uint32_t identity;
    void (*merge)(uint32_t *target, const uint32_t *source, size_t words);
} Kind;

// One of add, and, or, xor, smin, smax, umin, umax; else null.
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
    double each;       // in and out: the seconds that a thread seems to take, 0 where nothing is known
} Job;

typedef struct Crew Crew;

// Called now and then while a job runs or waits, in the caller's thread, outside of machine code. False: it is to end.
typedef bool (*MayGoOn)(void *context);

// A job is STOPPED by `stop_raise`, perhaps just after all was done, and INTERRUPTED by `MayGoOn`. FORKED: this is the
// child of a fork that happened in `MayGoOn`, and has none of the other workers.
typedef enum { DONE, STOPPED, INTERRUPTED, OUT_OF_MEMORY, FORKED } Result;

// Null if there is no memory. Threads are started when they are first of use.
Crew *crew_new(size_t workers);

size_t crew_size(const Crew *crew);

// Does a job, of which the caller's thread does a share, once no other one is under way; a job that is asked for while
// the same thread waits in `MayGoOn` is done by that thread alone. All workers have ended when it returns.
Result crew_do(Crew *crew, Job *job, MayGoOn may_go_on, void *context);

// Ends the threads. In the child of a fork, where there are none and locks may be held by nobody, it does nothing.
void crew_free(Crew *crew);

#endif
