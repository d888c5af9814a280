#define _GNU_SOURCE
#include "crew.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Seconds.
static const double WORTH_WAKING = 100e-6;   // of work: a sleeping worker begins 40 to 80 µs after the call
static const double WORTH_TAKING = 20e-6;    // of work in a part, so that the cost of taking parts is negligible
static const double LONGEST = 50e-3;         // of a part, approximately: the maximum delay of an interrupt
static const double PER_COPIED_BYTE = 2e-10; // approximate cost of clearing and merging a private copy

enum {
    ALIGN = 64,
    PARTS_PER_WORKER = 2,       // divides the remaining work; parts get smaller towards the end
    MOST_PARTS_PER_WORKER = 32, // bounds the number of parts: a part is at least this fraction of all
    GROWTH = 8,                 // maximum ratio of a part to the largest part so far, while estimates are poor
    STACK = 8 << 20,
};

#define MERGE(NAME, VALUE)                                                                                             \
    static void merge_##NAME(uint32_t *target, const uint32_t *source, size_t words) {                                 \
        for (size_t i = 0; i < words; i++) {                                                                           \
            const uint32_t a = target[i], b = source[i];                                                               \
            target[i] = VALUE;                                                                                         \
        }                                                                                                              \
    }
MERGE(add, a + b)
MERGE(and, a & b)
MERGE(or, a | b)
MERGE(xor, a ^ b)
MERGE(smin, (int32_t)a < (int32_t)b ? a : b)
MERGE(smax, (int32_t)a > (int32_t)b ? a : b)
MERGE(umin, a < b ? a : b)
MERGE(umax, a > b ? a : b)

const Kind *kind_named(const char *name) {
    static const Kind KINDS[] = {
        {"add", 0, merge_add},
        {"and", UINT32_MAX, merge_and},
        {"or", 0, merge_or},
        {"xor", 0, merge_xor},
        {"smin", INT32_MAX, merge_smin},
        {"smax", (uint32_t)INT32_MIN, merge_smax},
        {"umin", UINT32_MAX, merge_umin},
        {"umax", 0, merge_umax},
    };
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(KINDS[i].name, name) == 0) {
            return &KINDS[i];
        }
    }
    return NULL;
}

// The processors for the threads of a job. Linux wakes a thread on the waker's processor if it considers the search for
// an idle one too expensive, and leaves the thread there for milliseconds, behind the waker. So workers are kept off
// the processor on which the job began, if the caller itself may run on others.
typedef struct {
#ifdef __linux__
    cpu_set_t set;
#endif
    bool is_known;
} Processors;

typedef struct {
    Crew *crew;
    pthread_t thread;
    pthread_cond_t call;
    bool is_started, is_called;
    Processors processors;
    Runner *runner;
    char *memory; // scratch, then private copies, then the addresses of its bindings; kept from job to job
    size_t size;
    void *const *bindings; // null until it takes part in the job
} Worker;

struct Crew {
    pid_t process;
    size_t size;
    Worker *workers; // the first is the thread that calls `crew_do`
    Runner *runners; // of the workers but the first
    pthread_mutex_t lock;
    pthread_cond_t ended, idle;
    bool is_busy, is_closed;
    pthread_t caller; // while the crew is busy
    Job job; // the current job, of which only `each` changes
    size_t copied;
    uint64_t least;       // the size of the smallest part
    uint64_t begin, most; // where the next part begins; the size of the largest one
    size_t called;        // how many workers have a part in the job beside the first
    size_t working;       // how many of those have not ended
    Processors processors;
};

// Threads of the dispatch, how long they took, and when they were done.
typedef struct {
    uint64_t begin, end;
    double seconds, ended;
} Part;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static size_t rounded(size_t size) { return (size + ALIGN - 1) / ALIGN * ALIGN; }

static uint64_t at_most(uint64_t most, uint64_t value) { return value < most ? value : most; }

static uint64_t at_least(uint64_t least, uint64_t value) { return value > least ? value : least; }

// The number of threads that take this many seconds; at least one.
static uint64_t threads_in(double seconds, const Job *job) {
    return at_least(1, (uint64_t)(seconds / (job->each > 1e-9 ? job->each : 1e-9)));
}

#ifdef __linux__
static Processors processors_but_this(void) {
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

static void move(Worker *worker, const Processors *to) {
    if (to->is_known && !(worker->processors.is_known && CPU_EQUAL(&worker->processors.set, &to->set))) {
        worker->processors = *to;
        pthread_setaffinity_np(worker->thread, sizeof to->set, &to->set);
    }
}
#else
static Processors processors_but_this(void) { return (Processors){.is_known = false}; }

static void move(Worker *worker, const Processors *to) { (void)worker, (void)to; }
#endif

static void *serve(void *argument);

// Whether the worker has a thread, which is started at the first call.
static bool is_ready(Worker *worker) {
    if (!worker->is_started) {
        pthread_attr_t attributes;
        const sigset_t mask = worker_mask(); // all other signals are for the threads of the program
        sigset_t before;
        pthread_sigmask(SIG_SETMASK, &mask, &before);
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, STACK);
        worker->is_started = pthread_create(&worker->thread, &attributes, serve, worker) == 0;
        pthread_attr_destroy(&attributes);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return worker->is_started;
}

// Wakes as many workers as the remaining work is worth.
static void call_others(Crew *crew) {
    const double seconds = crew->job.each * (double)(crew->job.count - crew->begin);
    const double worth = WORTH_WAKING + PER_COPIED_BYTE * (double)crew->copied;
    while (crew->called + 1 < crew->size && seconds >= worth * (double)(crew->called + 1)) {
        Worker *worker = &crew->workers[crew->called + 1];
        if (!is_ready(worker)) {
            return;
        }
        if (crew->called == 0) { // so this is the first worker
            crew->processors = processors_but_this();
        }
        move(worker, &crew->processors);
        crew->called++;
        crew->working++;
        worker->is_called = true;
        pthread_cond_signal(&worker->call);
    }
}

// Cancels the calls of workers that have not started yet: no work is left.
static void call_off(Crew *crew) {
    for (size_t number = 1; number <= crew->called; number++) {
        Worker *worker = &crew->workers[number];
        if (worker->is_called) {
            worker->is_called = false;
            crew->working--;
        }
    }
}

// Takes the next part, after the last one was done; false if none is left. The size of a part depends on the time per
// thread in the last part: the first thread alone may have taken a thousand times as long as the next.
static bool take(Crew *crew, Part *part) {
    Job *job = &crew->job;
    pthread_mutex_lock(&crew->lock);
    const uint64_t done = part->end - part->begin;
    if (done > 0) {
        job->each = part->seconds / (double)done;
        crew->most = at_least(crew->most, done < UINT64_MAX / GROWTH ? done * GROWTH : UINT64_MAX);
    }
    if (stop_is_raised(job->stop)) {
        crew->begin = job->count;
    }
    const uint64_t left = job->count - crew->begin;
    if (left > 0) {
        call_others(crew);
        uint64_t size = at_least(crew->least, left / (crew->size * PARTS_PER_WORKER));
        size = at_most(threads_in(LONGEST, job), at_least(threads_in(WORTH_TAKING, job), size));
        part->begin = crew->begin;
        part->end = crew->begin += at_most(left, at_most(crew->most, size));
    }
    pthread_mutex_unlock(&crew->lock);
    return left > 0;
}

// The bindings for a worker, with new copies of the private ones; the first worker uses the bindings themselves.
static void *const *bindings_of(const Worker *worker) {
    const Crew *crew = worker->crew;
    const Job *job = &crew->job;
    if (job->private_count == 0 || worker == crew->workers) {
        return job->bindings;
    }
    char *end = worker->memory + rounded(job->scratch);
    void **bindings = (void **)(void *)(end + crew->copied);
    memcpy(bindings, job->bindings, job->binding_count * sizeof *bindings);
    for (const Private *it = job->privates; it < job->privates + job->private_count; it++) {
        uint32_t *words = (uint32_t *)(void *)end;
        for (size_t i = 0; i < it->words; i++) {
            words[i] = it->kind->identity;
        }
        bindings[it->binding] = words;
        end += rounded(it->words * sizeof *words);
    }
    return bindings;
}

// The arguments of machine code.
typedef struct {
    const Worker *worker;
    const Part *part;
} Call;

static void call_entry(const void *argument) {
    const Call *call = argument;
    const Worker *worker = call->worker;
    const Job *job = &worker->crew->job;
    job->entry(worker->bindings, job->numbers, call->part->begin, call->part->end, worker->memory);
}

static void do_part(Worker *worker, Part *part) {
    if (worker->bindings == NULL) {
        worker->bindings = bindings_of(worker);
    }
    const double started = now();
    runner_call(worker->runner, worker->crew->job.stop, call_entry, &(Call){worker, part});
    atomic_thread_fence(memory_order_seq_cst); // the lock does not order non-temporal stores
    part->ended = now();
    part->seconds = part->ended - started;
}

// The thread function of a worker other than the first.
static void *serve(void *argument) {
    Worker *worker = argument;
    Crew *crew = worker->crew;
    runner_begin_worker(worker->runner);
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (!worker->is_called && !crew->is_closed) {
            pthread_cond_wait(&worker->call, &crew->lock);
        }
        if (crew->is_closed) {
            pthread_mutex_unlock(&crew->lock);
            return NULL;
        }
        worker->is_called = false;
        pthread_mutex_unlock(&crew->lock);
        for (Part part = {0}; take(crew, &part);) {
            do_part(worker, &part);
        }
        pthread_mutex_lock(&crew->lock);
        if (--crew->working == 0) {
            pthread_cond_signal(&crew->ended);
        }
    }
}

// Waits for a condition, but not much longer than an interrupt may have to wait. The lock is held.
static void wait_a_while(Crew *crew, pthread_cond_t *condition) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += (long)(LONGEST * 1e9);
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_cond_timedwait(condition, &crew->lock, &end);
}

// A further result of `enter`: the calling thread is already running a job of the crew.
enum { NESTED = FORKED + 1 };

// Waits until no other job is running. Returns DONE, or the reason why it stopped waiting.
static int enter(Crew *crew, const Stop *stop, MayGoOn may_go_on, void *context) {
    bool is_fine = true;
    pthread_mutex_lock(&crew->lock);
    const bool is_nested = crew->is_busy && pthread_equal(crew->caller, pthread_self());
    while (crew->is_busy && !is_nested && is_fine && !stop_is_raised(stop)) {
        wait_a_while(crew, &crew->idle);
        pthread_mutex_unlock(&crew->lock);
        is_fine = may_go_on(context);
        if (crew->process != getpid()) {
            return FORKED;
        }
        pthread_mutex_lock(&crew->lock);
    }
    const int result = is_nested ? NESTED : !is_fine ? INTERRUPTED : crew->is_busy ? STOPPED : DONE;
    if (result == DONE) {
        crew->is_busy = true;
        crew->caller = pthread_self();
    }
    pthread_mutex_unlock(&crew->lock);
    return result;
}

static void leave(Crew *crew) {
    pthread_mutex_lock(&crew->lock);
    crew->is_busy = false;
    pthread_cond_signal(&crew->idle);
    pthread_mutex_unlock(&crew->lock);
}

// Makes a job the current one. False if out of memory.
static bool begin(Crew *crew, const Job *job) {
    crew->job = *job;
    crew->copied = 0;
    for (const Private *it = job->privates; it < job->privates + job->private_count; it++) {
        crew->copied += rounded(it->words * sizeof(uint32_t));
    }
    crew->workers->runner = &job->stop->caller;
    crew->least = job->count / (crew->size * MOST_PARTS_PER_WORKER);
    crew->begin = 0;
    crew->most = job->each > 0 ? UINT64_MAX : 1;
    crew->called = 0;
    const size_t addresses = job->private_count > 0 ? rounded(job->binding_count * sizeof(void *)) : 0;
    const size_t size = rounded(job->scratch) + crew->copied + addresses;
    for (Worker *worker = crew->workers; worker < crew->workers + crew->size; worker++) {
        if (worker->size < size) {
            free(worker->memory);
            worker->memory = aligned_alloc(ALIGN, size);
            worker->size = worker->memory == NULL ? 0 : size;
            if (worker->memory == NULL) {
                return false;
            }
        }
        worker->bindings = NULL;
    }
    return true;
}

// Combines the private copies with the bindings, once all other workers have ended.
static void merge(const Crew *crew) {
    const Job *job = &crew->job;
    for (size_t number = 1; number <= crew->called; number++) {
        void *const *copies = crew->workers[number].bindings;
        for (const Private *it = job->privates; copies != NULL && it < job->privates + job->private_count; it++) {
            it->kind->merge(job->bindings[it->binding], copies[it->binding], it->words);
        }
    }
}

// Whether the caller wants the job to go on, and when it was asked last.
typedef struct {
    MayGoOn may_go_on;
    void *context;
    double last;
    Result result;
} Asking;

// Stops the job if the caller wants that. Asks at intervals, and no more after a stop. False in the child of a fork.
static bool ask(Crew *crew, Asking *asking, double time) {
    if (asking->result != DONE || time - asking->last <= LONGEST / 2) {
        return true;
    }
    asking->last = time;
    if (!asking->may_go_on(asking->context)) {
        asking->result = INTERRUPTED;
        stop_raise(crew->job.stop);
    }
    if (crew->process != getpid()) {
        return false;
    }
    if (crew->job.stops_caller) {
        stop_admit_caller(crew->job.stop);
    }
    return true;
}

// Does the caller's share of the current job. False in the child of a fork, where the lock may never be released.
static bool work(Crew *crew, Asking *asking) {
    for (Part part = {0}; take(crew, &part);) {
        do_part(crew->workers, &part);
        if (!ask(crew, asking, part.ended)) {
            return false;
        }
    }
    pthread_mutex_lock(&crew->lock);
    call_off(crew);
    while (crew->working > 0) {
        wait_a_while(crew, &crew->ended);
        pthread_mutex_unlock(&crew->lock);
        if (!ask(crew, asking, now())) {
            return false;
        }
        pthread_mutex_lock(&crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
    return true;
}

// Does a job in the calling thread alone.
static Result do_alone(Job *job, MayGoOn may_go_on, void *context) {
    Crew *crew = crew_new(1);
    const Result result = crew == NULL ? OUT_OF_MEMORY : crew_do(crew, job, may_go_on, context);
    crew_free(crew);
    return result;
}

Result crew_do(Crew *crew, Job *job, MayGoOn may_go_on, void *context) {
    const int entered = enter(crew, job->stop, may_go_on, context);
    if (entered != DONE) {
        return entered == NESTED ? do_alone(job, may_go_on, context) : (Result)entered;
    }
    if (!begin(crew, job)) {
        leave(crew);
        return OUT_OF_MEMORY;
    }
    stop_begin(job->stop, crew->runners, crew->size - 1);
    if (job->stops_caller) {
        stop_admit_caller(job->stop);
    }
    Asking asking = {may_go_on, context, now(), DONE};
    if (!work(crew, &asking)) {
        return FORKED;
    }
    merge(crew);
    job->each = crew->job.each;
    stop_end(job->stop);
    leave(crew);
    return asking.result == DONE && stop_is_raised(job->stop) ? STOPPED : asking.result;
}

Crew *crew_new(size_t size) {
    Crew *crew = calloc(1, sizeof *crew);
    Worker *workers = calloc(size, sizeof *workers);
    Runner *runners = calloc(size, sizeof *runners);
    if (crew == NULL || workers == NULL || runners == NULL) {
        free(crew);
        free(workers);
        free(runners);
        return NULL;
    }
    crew->process = getpid();
    crew->size = size;
    crew->workers = workers;
    crew->runners = runners;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->ended, NULL);
    pthread_cond_init(&crew->idle, NULL);
    for (Worker *worker = workers; worker < workers + size; worker++) {
        worker->crew = crew;
        worker->runner = worker == workers ? NULL : &runners[worker - workers - 1];
        pthread_cond_init(&worker->call, NULL);
    }
    return crew;
}

size_t crew_size(const Crew *crew) { return crew->size; }

void crew_free(Crew *crew) {
    if (crew == NULL || crew->process != getpid()) {
        return;
    }
    pthread_mutex_lock(&crew->lock);
    crew->is_closed = true;
    for (Worker *worker = crew->workers; worker < crew->workers + crew->size; worker++) {
        pthread_cond_signal(&worker->call);
    }
    pthread_mutex_unlock(&crew->lock);
    for (Worker *worker = crew->workers; worker < crew->workers + crew->size; worker++) {
        if (worker->is_started) {
            pthread_join(worker->thread, NULL);
        }
        pthread_cond_destroy(&worker->call);
        free(worker->memory);
    }
    pthread_cond_destroy(&crew->idle);
    pthread_cond_destroy(&crew->ended);
    pthread_mutex_destroy(&crew->lock);
    free(crew->workers);
    free(crew->runners);
    free(crew);
}
