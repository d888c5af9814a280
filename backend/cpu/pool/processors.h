// The processors for the threads of a job. Linux wakes a thread on the waker's processor if it considers the search for
// an idle one too expensive, and leaves the thread there for milliseconds, behind the waker. So workers are kept off
// the processor on which the job began, if the caller itself may run on others.
#ifndef TINCT_PROCESSORS_H
#define TINCT_PROCESSORS_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

typedef struct {
#ifdef __linux__
    cpu_set_t set;
#endif
    bool is_known;
} Processors;

// Those that the calling thread may use, but the one that it is on; that one, if there is no other.
Processors processors_but_this(void);

// Moves a thread from the processors that were set last to others.
void processors_move(pthread_t thread, Processors *from, const Processors *to);

#endif
