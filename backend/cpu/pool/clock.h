#ifndef TINCT_CLOCK_H
#define TINCT_CLOCK_H

#include <time.h>

// Seconds since some moment.
static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
