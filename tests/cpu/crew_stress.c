// Jobs that are stopped at random moments, on several crews and from several threads, while other signals come: see
// test_crew.py, which compiles this file with the crew, as it is and with sanitizers.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
// A thread sanitizer calls handlers itself, later than the system would, and with masks of its own: what a handler
// finds, and what is left after a jump out of it, tells nothing. That of GCC 12 copies the address of a handler byte by
// byte, so that one thread must not ask for it while another sets it; and of two signals that come at once, it may
// leave all signals blocked. So no signals but those that stop jobs come there.
#ifndef __SANITIZE_THREAD__
#define HAS_OWN_HANDLERS
#endif
#if defined __SSE__ && defined HAS_OWN_HANDLERS
#define HAS_SETTINGS
#include <xmmintrin.h>
#endif

#include "../../backend/cpu/pool/crew.h"

enum { CREWS = 2, CALLERS = 4, STOPPERS = 2, WORKERS = 3, THREADS = 100, SIDE_BY_SIDE = 2 };
enum { PATIENCE = 30 }; // seconds that the program's own signals may take to come

static Crew *crews[CREWS];
static _Atomic bool is_over, has_ended; // callers begin no more jobs; all of them have returned
static _Atomic long stopped, done, passed_on, entered, left, failures;

static void check(bool is_right, const char *what) {
    if (!is_right) {
        fprintf(stderr, "%s\n", what);
        atomic_fetch_add(&failures, 1);
    }
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void wait_for(long microseconds) {
    nanosleep(&(struct timespec){microseconds / 1000000, microseconds % 1000000 * 1000}, NULL);
}

#ifndef HAS_OWN_HANDLERS
static void unblock_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}
#endif

// Machine code that never ends. A thread sanitizer hands on signals only where the system is called.
static void endless(void *const *bindings, const uint64_t *numbers, uint64_t begin, uint64_t end, void *scratch,
                    bool is_shared) {
    (void)bindings, (void)numbers, (void)begin, (void)end, (void)is_shared;
    for (volatile uint32_t *word = scratch;; ++*word) {
#ifndef HAS_OWN_HANDLERS
        unblock_signals();
        wait_for(100);
#endif
    }
}

static void counting(void *const *bindings, const uint64_t *numbers, uint64_t begin, uint64_t end, void *scratch,
                     bool is_shared) {
    (void)scratch, (void)is_shared;
    for (uint64_t thread = begin; thread < end; thread++) {
        ((uint32_t *)bindings[0])[*numbers + thread]++;
    }
    if (*numbers == 0) { // the first of the jobs side by side
        *(uint32_t *)bindings[1] += (uint32_t)(end - begin);
    }
}

static bool go_on(void *context) {
    (void)context;
    return true;
}

// A job that another thread may stop; the lock keeps it from ending meanwhile, as Python's does.
typedef struct {
    pthread_mutex_t lock;
    Stop *stop;
    unsigned random;
    pthread_t thread;
} Thread;

static Thread callers[CALLERS];

static Result do_job(Thread *caller, Crew *crew, Entry entry, uint32_t *words) {
    Stop stop = {0};
    void *bindings[] = {words, words + THREADS};
    static const uint64_t offsets[SIDE_BY_SIDE] = {0, THREADS / SIDE_BY_SIDE};
    const Private total = {1, 1, kind_named("add")};
    Job jobs[SIDE_BY_SIDE];
    for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
        const double each = rand_r(&caller->random) % 2 ? 1e-3 : 0; // so that other workers are called in, or not
        jobs[i] = (Job){.entry = entry, .bindings = bindings, .binding_count = 2, .scratch = 64, .each = each};
        jobs[i].numbers = offsets + i;
        jobs[i].count = THREADS / SIDE_BY_SIDE;
    }
    if (entry == counting) {
        jobs[0].privates = &total;
        jobs[0].private_count = 1;
    }
    pthread_mutex_lock(&caller->lock);
    caller->stop = entry == endless ? &stop : NULL;
    pthread_mutex_unlock(&caller->lock);
    Caller entered = {.crew = crew, .stop = &stop, .stops_caller = true, .may_go_on = go_on};
    Result result = crew_enter(&entered);
    if (result == DONE) {
        result = crew_do(&entered, jobs, SIDE_BY_SIDE);
        crew_leave(&entered);
    }
    pthread_mutex_lock(&caller->lock);
    caller->stop = NULL;
    pthread_mutex_unlock(&caller->lock);
    return result;
}

#ifdef HAS_OWN_HANDLERS
static sigset_t blocked(void) {
    sigset_t mask;
    memset(&mask, 0, sizeof mask);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    return mask;
}
#endif

static void *call(void *argument) {
    Thread *caller = argument;
    uint32_t words[THREADS + 1] = {0};
    uint32_t turns = 0;
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    if (caller == &callers[1]) {
        pthread_sigmask(SIG_BLOCK, &urgent, NULL);
    }
#ifdef HAS_OWN_HANDLERS
    const sigset_t before = blocked();
#endif
#ifdef HAS_SETTINGS
    _mm_setcsr(_mm_getcsr() | 0x8000); // flush to zero
#endif
    while (!is_over) {
        Crew *crew = crews[rand_r(&caller->random) % CREWS];
        check(do_job(caller, crew, endless, words) == STOPPED, "an endless job must be stopped");
        atomic_fetch_add(&stopped, 1);
        check(do_job(caller, crew, counting, words) == DONE, "a short job must be done");
        atomic_fetch_add(&done, 1);
        turns++;
    }
    check(words[THREADS] == turns * (THREADS / SIDE_BY_SIDE), "private copies must be merged");
    for (size_t i = 0; i < THREADS; i++) {
        check(words[i] == turns, "each thread of a job that is not stopped must run once");
    }
#ifdef HAS_OWN_HANDLERS
    const sigset_t after = blocked();
    check(memcmp(&before, &after, sizeof before) == 0, "a thread must block the signals that it blocked before");
#endif
#ifdef HAS_SETTINGS
    check((_mm_getcsr() & 0x8000) != 0, "a thread must keep its settings of floating-point arithmetic");
#endif
    return NULL;
}

static void *stop_some(void *argument) {
    (void)argument;
    for (unsigned random = 1; !has_ended;) {
        wait_for(rand_r(&random) % 300);
        Thread *caller = &callers[rand_r(&random) % CALLERS];
        pthread_mutex_lock(&caller->lock);
        if (caller->stop != NULL) {
            stop_raise(caller->stop);
        }
        pthread_mutex_unlock(&caller->lock);
    }
    return NULL;
}

#ifdef HAS_OWN_HANDLERS
// A handler of a program, which must not be left in the middle.
static void on_other_signal(int number) {
    (void)number;
    atomic_fetch_add(&entered, 1);
    for (const double end = seconds() + 50e-6; seconds() < end;) {
    }
    atomic_fetch_add(&left, 1);
}

static void on_urgent(int number) {
    (void)number;
    atomic_fetch_add(&passed_on, 1);
}

static void set_handler(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

// Sends the program's own signals until this time, and longer if none has come by then.
static void send_signals(double end) {
    set_handler(SIGUSR1, on_other_signal);
    for (long sent = 0; seconds() < end || ((entered == 0 || passed_on == 0) && seconds() < end + PATIENCE); sent++) {
        pthread_kill(callers[sent % CALLERS].thread, SIGUSR1);
        if (sent % 16 == 0) {
            set_handler(SIGURG, on_urgent); // as a program may do at any time
            kill(getpid(), SIGURG);
        }
        wait_for(200);
    }
    check(entered > 0 && passed_on > 0, "the program's own signals must come");
}
#endif

int main(int count, char **arguments) {
    const double end = seconds() + (count > 1 ? atof(arguments[1]) : 1);
    pthread_t stoppers[STOPPERS];
    for (size_t i = 0; i < CREWS; i++) {
        crews[i] = crew_new(i + WORKERS, 100e-6, 50e-6 * (double)i);
    }
    for (size_t i = 0; i < CALLERS; i++) {
        callers[i].random = (unsigned)i + 1;
        pthread_mutex_init(&callers[i].lock, NULL);
        pthread_create(&callers[i].thread, NULL, call, &callers[i]);
    }
    for (size_t i = 0; i < STOPPERS; i++) {
        pthread_create(&stoppers[i], NULL, stop_some, NULL);
    }
#ifdef HAS_OWN_HANDLERS
    send_signals(end);
#else
    wait_for((long)(1e6 * (end - seconds())));
#endif
    is_over = true;
    for (size_t i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
    }
    has_ended = true;
    for (size_t i = 0; i < STOPPERS; i++) {
        pthread_join(stoppers[i], NULL);
    }
    for (size_t i = 0; i < CREWS; i++) {
        crew_free(crews[i]);
    }
    check(entered == left, "a handler of another signal must return");
    printf("%ld stopped, %ld done, %ld other signals, %ld passed on\n", stopped, done, entered, passed_on);
    return failures != 0;
}
