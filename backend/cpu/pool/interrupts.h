// Interrupts (SIGINT) while the main thread dispatches. Python handles signals between its own instructions, so an
// interrupt would not end an infinite loop in machine code: one that is sure to raise KeyboardInterrupt stops the job.
#ifndef TINCT_INTERRUPTS_H
#define TINCT_INTERRUPTS_H

#include <signal.h>
#include <stdbool.h>

#include "stop.h"

// One dispatch of the main thread.
typedef struct Interrupts {
    Stop *stop;
    struct sigaction python;   // how Python handles interrupts
    struct Interrupts *around; // the dispatch during which this one was started
    bool is_first;             // whether interrupts went to Python before
    volatile sig_atomic_t came;
} Interrupts;

// False, with a Python exception set, if the setup fails.
bool interrupts_set_up(void);

// Whether an interrupt would raise KeyboardInterrupt in this thread.
bool interrupt_raises_here(void);

// From now on an interrupt stops the job. Called by the main thread, which calls `interrupts_unwatch` when the job has
// ended; that says whether an interrupt came.
void interrupts_watch(Interrupts *interrupts, Stop *stop);
bool interrupts_unwatch(const Interrupts *interrupts);

#endif
