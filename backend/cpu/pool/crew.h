// The worker threads that share the dispatches of a process. They do not use Python: no part of a dispatch waits
// for the interpreter's lock, so other threads that run Python code do not slow kernels down.
#ifndef TINCT_CREW_H
#define TINCT_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kinds.h"
#include "stop.h"

// Machine code that runs the threads [begin, end) of a dispatch, while other workers run others if it `is_shared`. It
// takes no locks and allocates nothing, since a stopped job leaves it at any instruction.
typedef void (*Entry)(void *const *bindings, const uint64_t *numbers, uint64_t begin, uint64_t end, void *scratch,
                      bool is_shared);

// A binding of which each worker but the first has a copy of its own, merged when all have ended.
typedef struct {
    size_t binding, words;
    const Kind *kind;
} Private;

// The seconds that a thread of a job takes where one worker does all threads, and where several workers do; 0 if
// unknown.
typedef struct {
    double alone, together;
} Pace;

// A dispatch, which several workers may run together.
typedef struct {
    Entry entry;
    void *const *bindings;
    size_t binding_count;
    const uint64_t *numbers;
    uint64_t count;
    size_t scratch; // bytes for each worker
    const Private *privates;
    size_t private_count;
    double each; // in and out: the estimated seconds of a thread, 0 if unknown
    Pace *pace;  // of code that is quicker if it is not shared; null if all is the same then
} Job;

typedef struct Crew Crew;
typedef struct Seat Seat;

// Called at intervals while jobs run, in the caller's thread, outside machine code. False stops the jobs.
typedef bool (*MayGoOn)(void *context);

// Jobs are STOPPED by `stop_raise`, possibly just after they were complete, and INTERRUPTED by `MayGoOn`. FORKED: this
// is the child of a fork that happened in `MayGoOn`, and has none of the other workers.
typedef enum { DONE, STOPPED, INTERRUPTED, OUT_OF_MEMORY, FORKED } Result;

// A thread that has jobs done, one after another or side by side, in which it takes part. The members after `context`
// are the crew's.
typedef struct {
    Crew *crew;
    Stop *stop;
    bool stops_caller; // whether jobs may be stopped while the caller's thread is in machine code
    MayGoOn may_go_on;
    void *context;
    Seat *seat;
    double asked; // when `may_go_on` was called last
    Result result;
} Caller;

// Null if out of memory. Threads are started when they are first needed; a sleeping one is woken for so many seconds of
// work at least. After a job a worker lingers, awake, for so many seconds.
Crew *crew_new(size_t workers, double worth_waking, double lingering);

size_t crew_size(const Crew *crew);

// Begins the jobs of a caller: DONE, or OUT_OF_MEMORY. Any number of threads may be callers at once: each does its own
// jobs, and the other workers take parts of the jobs of all callers in turn. There are no more workers than the crew
// has, where callers count, unless there are more callers.
Result crew_enter(Caller *caller);

// Does jobs that do not depend on each other. Unless the result is FORKED, all workers have left them then.
Result crew_do(Caller *caller, Job *jobs, size_t count);

// Ends the jobs of a caller. Not to be called after FORKED.
void crew_leave(Caller *caller);

// Ends the threads. In the child of a fork it does nothing: there are no threads, and locks may never be released.
void crew_free(Crew *crew);

#endif
