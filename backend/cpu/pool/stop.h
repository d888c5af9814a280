// Stops machine code at any instruction, by a signal.
//
// Machine code only computes on memory: it takes no locks and allocates nothing, so a thread may leave it anywhere. A
// thread saves its place with setjmp and sets `inside` before it calls machine code. To stop a job, its flag is raised
// and a signal is sent to each thread that is inside, whose handler jumps back. No thread is missed: a thread sets
// `inside` before it reads the flag, and the flag is raised before `inside` of each thread is read.
//
// The signal is SIGURG, which Go's runtime uses for a like purpose, for the same reasons (Go proposal 24543,
// "Non-cooperative goroutine preemption"): without a handler it does nothing, debuggers pass it on by default, and
// programs that have a handler must expect it without a cause. A handler that a program has set is called for all
// signals that are not for machine code.
#ifndef TINCT_STOP_H
#define TINCT_STOP_H

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Stop Stop;

// A thread that runs machine code.
typedef struct {
    pthread_t thread;
    _Atomic(Stop *) inside; // the Stop of the job whose machine code the thread is running; else null
    sigset_t mask;          // the signals that the thread blocks in machine code
    jmp_buf back;
} Runner;

// Stops one job: the flag, and the threads that may run the job's machine code, while it runs.
struct Stop {
    _Atomic bool is_raised;
    Runner caller;
    bool was_blocked; // whether the caller's thread blocked the signal before
    _Atomic(Runner *) workers;
    size_t count;
};

// Registers the calling thread, which blocks the signals of `worker_mask`, as the runner.
void runner_begin_worker(Runner *runner);

// All signals but the one that stops machine code.
sigset_t worker_mask(void);

// The signals that a handler blocks while it runs: all that do not come from an instruction of its own. So handlers do
// not interrupt one another: where one runs on an alternate stack, Linux ends the program when that is full, and some
// have no room for a second one.
sigset_t handler_mask(void);

// Calls machine code, unless the job is stopped; returns early once it is.
void runner_call(Runner *runner, Stop *stop, void (*code)(const void *argument), const void *argument);

// Begins and ends a job of the calling thread and `count` workers, which may be inside its machine code in between.
void stop_begin(Stop *stop, Runner *workers, size_t count);
void stop_end(Stop *stop);

// Lets the caller's thread be stopped, too. To be called again after anything that may have changed the signals which
// the thread blocks; `stop_end` undoes it.
void stop_admit_caller(Stop *stop);

// Stops the job, whether or not it runs yet. Signal handlers may call it; the caller's thread and the workers must not
// end meanwhile.
void stop_raise(Stop *stop);

static inline bool stop_is_raised(const Stop *stop) {
    return atomic_load_explicit(&stop->is_raised, memory_order_relaxed);
}

#endif
