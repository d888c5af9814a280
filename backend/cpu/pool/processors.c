#define _GNU_SOURCE
#include "processors.h"

#ifdef __linux__
Processors processors_but_this(void) {
    Processors result = {.is_known = false};
    const int here = sched_getcpu();
    if (here >= 0 && sched_getaffinity(0, sizeof result.set, &result.set) == 0) {
        CPU_CLR((unsigned)here, &result.set);
        if (CPU_COUNT(&result.set) == 0) {
            CPU_SET((unsigned)here, &result.set);
        }
        result.is_known = true;
    }
    return result;
}

void processors_move(pthread_t thread, Processors *from, const Processors *to) {
    if (to->is_known && !(from->is_known && CPU_EQUAL(&from->set, &to->set))) {
        *from = *to;
        pthread_setaffinity_np(thread, sizeof to->set, &to->set);
    }
}
#else
Processors processors_but_this(void) { return (Processors){.is_known = false}; }

void processors_move(pthread_t thread, Processors *from, const Processors *to) { (void)thread, (void)from, (void)to; }
#endif
