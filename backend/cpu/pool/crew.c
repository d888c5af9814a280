#define _GNU_SOURCE
#include "clock.h"
#include "copies.h"
#include "crew.h"
#include "processors.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

// Seconds.
static const double WORTH_TAKING = 20e-6;    // of work in a part, so that the cost of taking parts is negligible
static const double LONGEST = 50e-3;         // of a part, approximately: the maximum delay of an interrupt
static const double PER_COPIED_BYTE = 2e-10; // approximate cost of clearing and merging a private copy

// What is known of the slower way to do a job fades with each run, so that the way is tried again after some.
static const double FADING = 0.99;

enum {
    PARTS_PER_WORKER = 2,       // divides the remaining work; parts get smaller towards the end
    MOST_PARTS_PER_WORKER = 32, // bounds the number of parts: a part is at least this fraction of all
    GROWTH = 8,                 // maximum ratio of a part to the largest part so far, while estimates are poor
    STACK = 8 << 20,
};

// Threads that were done, and how long they took.
typedef struct {
    uint64_t threads;
    double seconds;
} Done;

// A job that workers may join.
typedef struct Shared {
    struct Shared *previous, *next; // the jobs of the crew are a ring
    Job *job;
    Stop *stop;
    uint64_t least;        // the size of the smallest part
    uint64_t begin, most;  // where the next part begins; the size of the largest one
    size_t copied;         // bytes of the private copies of a worker
    atomic_size_t working; // how many workers are in the job, or called to it, beside the caller
    bool is_alone;         // whether no other worker may join it as yet
    Done alone, together;  // by the caller then, and by all workers afterwards
    pthread_cond_t *left;  // signalled when the last of them leaves
    Copies *copies;        // of all of them
    Processors processors;
} Shared;

// What a caller needs while its jobs run; kept by the crew for later callers.
struct Seat {
    Seat *next;
    pthread_cond_t left;
    char *memory; // scratch
    size_t size;
    Shared *shared; // room for the jobs that run side by side
    size_t room;
};

typedef struct {
    Crew *crew;
    pthread_t thread;
    pthread_cond_t call;
    atomic_bool is_called;
    bool is_started, is_lingering;
    Processors processors;
    Runner *runner;
    char *memory; // scratch, kept from job to job
    size_t size;
    Shared *shared; // the job that it is in, or called to
    Copies *copies; // its private copies for that job
} Worker;

struct Crew {
    pid_t process;
    size_t size;         // workers, of which one is a caller
    double worth_waking; // seconds of work
    double lingering;    // seconds that whoever waits does so without sleeping
    Worker *workers;     // all but callers
    Runner *runners;
    pthread_mutex_t lock; // for all that follows, and for shared jobs; who lingers reads without it
    atomic_bool is_closed;
    Shared *ring; // a shared job; null if there is none
    Seat *seats;  // that no caller uses
    Copies *spare;
    atomic_size_t callers, working; // how many callers there are, and workers beside them that are in jobs or called
};

// Threads of the dispatch, whether other workers do others meanwhile, how long they took, and when they were done.
typedef struct {
    uint64_t begin, end;
    bool is_shared;
    double seconds, ended;
} Part;

static uint64_t at_most(uint64_t most, uint64_t value) { return value < most ? value : most; }

static uint64_t at_least(uint64_t least, uint64_t value) { return value > least ? value : least; }

// The number of threads that take this many seconds; at least one.
static uint64_t threads_in(double seconds, const Job *job) {
    return at_least(1, (uint64_t)(seconds / (job->each > 1e-9 ? job->each : 1e-9)));
}

static void *serve(void *argument);

// Leaves the processor to its other thread, if it has one, in a loop that waits for another processor.
static void relax(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

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

// Whether another worker may run: callers run, too, and there are no more than the crew has. The lock is held.
static bool has_place(const Crew *crew) { return crew->callers + crew->working < crew->size; }

// Makes the job that of the worker, which is in none. The lock is held, as it is in all functions up to `serve`.
static void assign(Worker *worker, Shared *shared) {
    worker->shared = shared;
    shared->working++;
    worker->crew->working++;
}

// Takes the worker out of its job.
static void leave(Worker *worker) {
    Shared *shared = worker->shared;
    if (worker->copies != NULL) {
        worker->copies->is_used = false;
    }
    worker->copies = NULL;
    worker->shared = NULL;
    worker->crew->working--;
    if (--shared->working == 0) {
        pthread_cond_signal(shared->left);
    }
}

// Has the memory that a worker needs for its job. If there is none, the worker takes no part in it.
static bool join(Worker *worker) {
    const Job *job = worker->shared->job;
    if (!has_room(&worker->memory, &worker->size, job->scratch)) {
        return false;
    }
    if (job->private_count > 0) {
        worker->copies = copies_take(&worker->shared->copies, &worker->crew->spare, job);
    }
    return job->private_count == 0 || worker->copies != NULL;
}

// Whether the remaining work is worth so many seconds until another worker begins.
static bool is_worth(double waking, const Crew *crew, const Shared *shared) {
    const double seconds = shared->job->each * (double)(shared->job->count - shared->begin);
    const double worth = waking + PER_COPIED_BYTE * (double)shared->copied;
    return has_place(crew) && seconds >= worth * (double)(shared->working + 1);
}

// Calls as many of the workers that linger, or of those that sleep, as the remaining work is worth.
static void call_idle(bool are_lingering, Crew *crew, Shared *shared) {
    for (Worker *worker = crew->workers; worker < crew->workers + crew->size - 1; worker++) {
        if (!is_worth(are_lingering ? WORTH_TAKING : crew->worth_waking, crew, shared)) {
            return;
        }
        if (worker->shared != NULL || worker->is_lingering != are_lingering) {
            continue;
        }
        if (!is_ready(worker)) {
            return;
        }
        if (shared->working == 0) { // so this is the caller
            shared->processors = processors_but_this();
        }
        processors_move(worker->thread, &worker->processors, &shared->processors);
        worker->is_called = true; // before its place is taken, for which it would stop lingering
        assign(worker, shared);
        pthread_cond_signal(&worker->call);
    }
}

// Calls as many workers as the remaining work is worth: first those that begin at once.
static void call_others(Crew *crew, Shared *shared) {
    call_idle(true, crew, shared);
    call_idle(false, crew, shared);
}

// Whether one worker does the job in less time than all of them, or that is to be found out.
static bool is_better_alone(const Crew *crew, const Job *job) {
    const Pace *pace = job->pace;
    const bool is_quicker = pace->together > 0 && pace->alone * (double)crew->size <= pace->together;
    return pace->alone == 0 || is_quicker;
}

// The seconds of a thread, as they were before if too little was done to tell.
static double seconds_each(const Done *done, double before) {
    return done->seconds < WORTH_TAKING ? before : done->seconds / (double)done->threads;
}

// Learns from a part that was done how long a thread takes. The first thread alone may have taken a thousand times as
// long as the next.
static void note(Shared *shared, const Part *part) {
    Job *job = shared->job;
    const uint64_t threads = part->end - part->begin;
    if (threads > 0) {
        job->each = part->seconds / (double)threads;
        shared->most = at_least(shared->most, threads < UINT64_MAX / GROWTH ? threads * GROWTH : UINT64_MAX);
    }
    if (job->pace != NULL) {
        Done *done = part->is_shared ? &shared->together : &shared->alone;
        done->threads += threads;
        done->seconds += part->seconds;
        job->pace->alone = seconds_each(&shared->alone, job->pace->alone);
    }
}

// Keeps what a job that has ended tells of the two ways to do it.
static void keep_pace(const Shared *shared) {
    Pace *pace = shared->job->pace;
    pace->together = seconds_each(&shared->together, pace->together * FADING);
    pace->alone = seconds_each(&shared->alone, pace->alone * FADING);
}

// Takes the next part; false if none is left. Its size depends on the time per thread in the part that was done last.
static bool take(Crew *crew, Shared *shared, Part *part) {
    const Job *job = shared->job;
    if (stop_is_raised(shared->stop)) {
        shared->begin = job->count;
    }
    const uint64_t left = job->count - shared->begin;
    if (left > 0) {
        const bool is_worth_waking = is_worth(crew->worth_waking, crew, shared);
        shared->is_alone = shared->is_alone && (is_better_alone(crew, job) || !is_worth_waking);
        if (!shared->is_alone) {
            call_others(crew, shared);
        }
        part->is_shared = !shared->is_alone;
        const uint64_t share = shared->is_alone ? 0 : left / (crew->size * PARTS_PER_WORKER);
        uint64_t size = at_least(shared->least, share);
        size = at_most(threads_in(LONGEST, job), at_least(threads_in(WORTH_TAKING, job), size));
        part->begin = shared->begin;
        part->end = shared->begin += at_most(left, at_most(shared->most, size));
    }
    return left > 0;
}

// Sends the worker to the next job that has parts left, so that all get their turns; to none if there is no such job,
// or callers need the processors.
static void move_on(Worker *worker) {
    Crew *crew = worker->crew;
    Shared *here = worker->shared, *next = here->next;
    while (next != here && (next->is_alone || next->begin >= next->job->count)) {
        next = next->next;
    }
    const bool is_needed = crew->callers + crew->working > crew->size;
    if (!is_needed && next == here && here->begin < here->job->count) {
        return;
    }
    const bool is_other = !is_needed && next != here;
    leave(worker);
    if (is_other) {
        assign(worker, next);
        if (!join(worker)) {
            leave(worker);
        }
    }
}

// The arguments of machine code.
typedef struct {
    const Job *job;
    void *const *bindings;
    const Part *part;
    void *scratch;
} Call;

static void call_entry(const void *argument) {
    const Call *call = argument;
    const Part *part = call->part;
    call->job->entry(call->bindings, call->job->numbers, part->begin, part->end, call->scratch, part->is_shared);
}

static void do_part(Runner *runner, Stop *stop, const Call *call, Part *part) {
    const double started = now();
    runner_call(runner, stop, call_entry, call);
    atomic_thread_fence(memory_order_seq_cst); // the lock does not order non-temporal stores
    part->ended = now();
    part->seconds = part->ended - started;
}

// Does a part of the worker's job, if one is left.
static void serve_once(Worker *worker) {
    Crew *crew = worker->crew;
    Shared *shared = worker->shared;
    Part part;
    if (!take(crew, shared, &part)) {
        return;
    }
    pthread_mutex_unlock(&crew->lock);
    void *const *bindings = 
        worker->copies == NULL ? shared->job->bindings : copies_bindings(worker->copies, shared->job);
    do_part(worker->runner, shared->stop, &(Call){shared->job, bindings, &part, worker->memory}, &part);
    pthread_mutex_lock(&crew->lock);
    note(shared, &part);
}

// Waits for a call without sleeping, since jobs often come one after another, and a thread takes longer to wake than
// many of them take; not if callers need the processors. Whether a call came, which may be taken back by now, or the
// end of the crew. The lock is held before and after.
static bool linger(Worker *worker) {
    Crew *crew = worker->crew;
    const double end = now() + crew->lingering;
    worker->is_lingering = true;
    pthread_mutex_unlock(&crew->lock);
    while (!worker->is_called && !crew->is_closed && has_place(crew) && now() < end) {
        relax();
    }
    const bool is_needed = worker->is_called || crew->is_closed;
    pthread_mutex_lock(&crew->lock);
    worker->is_lingering = false;
    return is_needed;
}

// The thread function of a worker.
static void *serve(void *argument) {
    Worker *worker = argument;
    Crew *crew = worker->crew;
    runner_begin_worker(worker->runner);
    pthread_mutex_lock(&crew->lock);
    while (!crew->is_closed) {
        const bool is_idle = !worker->is_called && !linger(worker);
        if (is_idle && !worker->is_called && !crew->is_closed) {
            pthread_cond_wait(&worker->call, &crew->lock);
        }
        if (!worker->is_called) {
            continue;
        }
        worker->is_called = false;
        if (!join(worker)) {
            leave(worker);
        }
        while (worker->shared != NULL) {
            serve_once(worker);
            move_on(worker);
        }
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

// Waits without sleeping, for a short time, until all other workers have left a job. The lock is held before and after.
static void wait_awake(Crew *crew, const Shared *shared) {
    const double end = now() + crew->lingering;
    pthread_mutex_unlock(&crew->lock);
    while (shared->working > 0 && now() < end) {
        relax();
    }
    pthread_mutex_lock(&crew->lock);
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

// Stops the jobs if the caller wants that. Asks at intervals, and no more after a stop. False in the child of a fork,
// where the lock may never be released.
static bool ask(Caller *caller, double time) {
    if (caller->result != DONE || time - caller->asked <= LONGEST / 2) {
        return true;
    }
    caller->asked = time;
    if (!caller->may_go_on(caller->context)) {
        caller->result = INTERRUPTED;
        stop_raise(caller->stop);
    }
    if (caller->crew->process != getpid()) {
        caller->result = FORKED;
        return false;
    }
    if (caller->stops_caller) {
        stop_admit_caller(caller->stop);
    }
    return true;
}

// Does a part in the caller's thread. False in the child of a fork.
static bool do_own_part(Caller *caller, const Job *job, Part *part) {
    const Call call = {job, job->bindings, part, caller->seat->memory};
    do_part(&caller->stop->caller, caller->stop, &call, part);
    return ask(caller, part->ended);
}

// Does jobs that are not worth the work of sharing them. False in the child of a fork.
static bool do_alone(Caller *caller, Job *jobs, size_t count) {
    for (Job *job = jobs; job < jobs + count && !stop_is_raised(caller->stop); job++) {
        Part part = {.end = job->count};
        if (job->count > 0 && !do_own_part(caller, job, &part)) {
            return false;
        }
        job->each = job->count > 0 ? part.seconds / (double)job->count : job->each;
    }
    return true;
}

// Lets other workers join the jobs.
static void share(const Caller *caller, Job *jobs, size_t count) {
    Crew *crew = caller->crew;
    pthread_mutex_lock(&crew->lock);
    for (size_t i = 0; i < count; i++) {
        Shared *shared = &caller->seat->shared[i];
        Job *job = &jobs[i];
        *shared = (Shared){.job = job, .stop = caller->stop, .left = &caller->seat->left};
        shared->copied = copies_size(job);
        shared->least = job->count / (crew->size * MOST_PARTS_PER_WORKER);
        shared->most = job->each > 0 ? UINT64_MAX : 1;
        shared->is_alone = job->pace != NULL;
        shared->next = crew->ring == NULL ? shared : crew->ring;
        shared->previous = crew->ring == NULL ? shared : crew->ring->previous;
        shared->previous->next = shared->next->previous = shared;
        crew->ring = crew->ring == NULL ? shared : crew->ring;
    }
    pthread_mutex_unlock(&crew->lock);
}

// Takes a job out of the ring, once all workers have left it. The lock is held.
static void withdraw(Crew *crew, Shared *shared) {
    crew->ring = crew->ring != shared ? crew->ring : shared->next != shared ? shared->next : NULL;
    shared->previous->next = shared->next;
    shared->next->previous = shared->previous;
}

// Takes back the calls of workers that have not begun with a job: no work is left. The lock is held.
static void call_off(Crew *crew, const Shared *shared) {
    for (Worker *worker = crew->workers; shared->working > 0 && worker < crew->workers + crew->size - 1; worker++) {
        if (worker->shared == shared && worker->is_called) {
            worker->is_called = false;
            leave(worker);
        }
    }
}

// Does the caller's share of a job. False in the child of a fork.
static bool work(Caller *caller, Shared *shared) {
    Crew *crew = caller->crew;
    for (Part part = {0};;) {
        pthread_mutex_lock(&crew->lock);
        note(shared, &part);
        const bool is_left = take(crew, shared, &part);
        pthread_mutex_unlock(&crew->lock);
        if (!is_left) {
            return true;
        }
        if (!do_own_part(caller, shared->job, &part)) {
            return false;
        }
    }
}

// Combines the private copies with the bindings, once all other workers have left, and keeps them for later jobs.
static void merge(Crew *crew, Shared *shared) {
    copies_merge(shared->copies, shared->job);
    pthread_mutex_lock(&crew->lock);
    copies_give_back(shared->copies, &crew->spare);
    pthread_mutex_unlock(&crew->lock);
}

// Ends a job of which no part is left, once all other workers have left it. False in the child of a fork.
static bool finish(Caller *caller, Shared *shared) {
    Crew *crew = caller->crew;
    pthread_mutex_lock(&crew->lock);
    call_off(crew, shared);
    if (shared->working > 0) {
        wait_awake(crew, shared);
    }
    while (shared->working > 0) {
        wait_a_while(crew, &caller->seat->left);
        pthread_mutex_unlock(&crew->lock);
        if (!ask(caller, now())) {
            return false;
        }
        pthread_mutex_lock(&crew->lock);
    }
    withdraw(crew, shared);
    if (shared->job->pace != NULL) {
        keep_pace(shared);
    }
    pthread_mutex_unlock(&crew->lock);
    if (shared->copies != NULL) {
        merge(crew, shared);
    }
    return true;
}

// Does jobs together with other workers. False in the child of a fork.
static bool do_together(Caller *caller, Job *jobs, size_t count) {
    Shared *shared = caller->seat->shared;
    share(caller, jobs, count);
    for (size_t i = 0; i < count; i++) {
        if (!work(caller, &shared[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!finish(caller, &shared[i])) {
            return false;
        }
    }
    return true;
}

// Whether the jobs are known to take so little time that no other worker could help. Sets `scratch` to the memory that
// the largest one needs.
static bool are_small(const Job *jobs, size_t count, size_t *scratch) {
    bool are_known = true;
    double seconds = 0;
    *scratch = 0;
    for (const Job *job = jobs; job < jobs + count; job++) {
        are_known = are_known && (job->each > 0 || job->count == 0);
        seconds += job->each * (double)job->count;
        *scratch = job->scratch > *scratch ? job->scratch : *scratch;
    }
    return are_known && seconds <= WORTH_TAKING;
}

// Room for the jobs that run side by side. False if out of memory.
static bool has_shared(Seat *seat, size_t count) {
    if (seat->room < count) {
        Shared *shared = realloc(seat->shared, count * sizeof *shared);
        if (shared == NULL) {
            return false;
        }
        seat->shared = shared;
        seat->room = count;
    }
    return true;
}

Result crew_do(Caller *caller, Job *jobs, size_t count) {
    Seat *seat = caller->seat;
    size_t scratch;
    const bool are_alone = are_small(jobs, count, &scratch);
    if (!has_room(&seat->memory, &seat->size, scratch) || !(are_alone || has_shared(seat, count))) {
        return OUT_OF_MEMORY;
    }
    if (!(are_alone ? do_alone(caller, jobs, count) : do_together(caller, jobs, count))) {
        return FORKED;
    }
    return caller->result == DONE && stop_is_raised(caller->stop) ? STOPPED : caller->result;
}

static Seat *new_seat(void) {
    Seat *seat = calloc(1, sizeof *seat);
    if (seat != NULL) {
        pthread_cond_init(&seat->left, NULL);
    }
    return seat;
}

Result crew_enter(Caller *caller) {
    Crew *crew = caller->crew;
    pthread_mutex_lock(&crew->lock);
    Seat *seat = crew->seats;
    crew->seats = seat == NULL ? NULL : seat->next;
    crew->callers++;
    pthread_mutex_unlock(&crew->lock);
    caller->seat = seat == NULL ? new_seat() : seat;
    if (caller->seat == NULL) {
        pthread_mutex_lock(&crew->lock);
        crew->callers--;
        pthread_mutex_unlock(&crew->lock);
        return OUT_OF_MEMORY;
    }
    caller->result = DONE;
    caller->asked = now();
    stop_begin(caller->stop, crew->runners, crew->size - 1);
    if (caller->stops_caller) {
        stop_admit_caller(caller->stop);
    }
    return DONE;
}

void crew_leave(Caller *caller) {
    Crew *crew = caller->crew;
    stop_end(caller->stop);
    pthread_mutex_lock(&crew->lock);
    caller->seat->next = crew->seats;
    crew->seats = caller->seat;
    crew->callers--;
    pthread_mutex_unlock(&crew->lock);
}

Crew *crew_new(size_t size, double worth_waking, double lingering) {
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
    crew->worth_waking = worth_waking;
    crew->lingering = lingering;
    crew->workers = workers;
    crew->runners = runners;
    pthread_mutex_init(&crew->lock, NULL);
    for (size_t i = 0; i + 1 < size; i++) {
        workers[i].crew = crew;
        workers[i].runner = &runners[i];
        pthread_cond_init(&workers[i].call, NULL);
    }
    return crew;
}

size_t crew_size(const Crew *crew) { return crew->size; }

static void free_workers(Crew *crew) {
    for (Worker *worker = crew->workers; worker < crew->workers + crew->size - 1; worker++) {
        if (worker->is_started) {
            pthread_join(worker->thread, NULL);
        }
        pthread_cond_destroy(&worker->call);
        free(worker->memory);
    }
    free(crew->workers);
    free(crew->runners);
}

void crew_free(Crew *crew) {
    if (crew == NULL || crew->process != getpid()) {
        return;
    }
    pthread_mutex_lock(&crew->lock);
    crew->is_closed = true;
    for (Worker *worker = crew->workers; worker < crew->workers + crew->size - 1; worker++) {
        pthread_cond_signal(&worker->call);
    }
    pthread_mutex_unlock(&crew->lock);
    free_workers(crew);
    for (Seat *seat = crew->seats, *next; seat != NULL; seat = next) {
        next = seat->next;
        pthread_cond_destroy(&seat->left);
        free(seat->memory);
        free(seat->shared);
        free(seat);
    }
    copies_free(crew->spare);
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}
