// The worker threads that share the dispatches of a process. They never touch Python: no part of a dispatch waits for
// the interpreter's lock, and a program whose other threads are busy in Python does not slow its kernels down.
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Seconds.
static const double WORTH_WAKING = 100e-6;   // of work: with less, waking another worker costs more than it saves
static const double WORTH_TAKING = 20e-6;    // of work in a part, so that taking parts is no work to speak of
static const double LONGEST = 50e-3;         // of a part, more or less: so long an interrupt may have to wait
static const double PER_COPIED_BYTE = 2e-10; // what clearing and merging a private copy takes, more or less

enum {
    ALIGN = 64,
    PARTS_PER_WORKER = 2,       // a worker takes this share of what is left, so that parts get smaller towards the end
    MOST_PARTS_PER_WORKER = 32, // no part is a smaller share of all than that
    GROWTH = 8,                 // while little is known, a part is so many times the largest one so far at most
    STACK = 8 << 20,
};

typedef void (*Entry)(void *const *bindings, const uint64_t *numbers, uint64_t begin, uint64_t end, void *scratch,
                      uint32_t *stop);

// How the words of private copies begin, and how they are combined.
typedef struct {
    const char *name;
    uint32_t identity;
    void (*merge)(uint32_t *target, const uint32_t *source, size_t words);
} Kind;

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

// A binding of which each worker but the first has a copy of its own.
typedef struct {
    size_t binding, words;
    const Kind *kind;
} Private;

// Where the threads of a run may be. Linux wakes a thread on its waker's processor where it thinks that looking for an
// idle one does not pay, and leaves it there for milliseconds, behind the waker. So workers are kept off the processor
// on which the run began, as far as the caller itself may be on others.
typedef struct {
#ifdef __linux__
    cpu_set_t set;
#endif
    bool is_known;
} Processors;

typedef struct Pool Pool;

typedef struct {
    Pool *pool;
    pthread_t thread;
    pthread_cond_t call;
    bool is_started, is_called;
    Processors processors;
    char *memory; // scratch, then private copies, then the addresses of its bindings; kept from run to run
    size_t size;
    void *const *bindings; // null until it takes part in the run
} Worker;

// The run that is under way. The lines that begin with `begin` change during it, and are used with the lock held.
typedef struct {
    Entry entry;
    void *const *bindings;
    size_t binding_count;
    const uint64_t *numbers;
    size_t scratch, copied; // bytes for each worker
    Private *privates;
    size_t private_count;
    uint32_t *stop;
    uint64_t least;            // the size of the smallest part
    uint64_t begin, end, most; // what is left; the size of the largest part
    double each;               // the seconds that each thread takes, by the last part; 0 where nothing is known
    size_t called, working;    // how many workers have a part in it beside the first; how many of them have not ended
    Processors processors;     // of those
    bool is_interrupted;
} Run;

struct Pool {
    PyObject ob_base;
    pid_t process;
    size_t workers;
    Worker *crew; // the first is whoever calls `run`
    pthread_mutex_t lock;
    pthread_cond_t ended, idle;
    bool is_busy, is_closed;
    uint32_t stop; // the stop flag of runs that have none
    Run run;
};

// Threads of the dispatch, and how long they took.
typedef struct {
    uint64_t begin, end;
    double seconds;
} Part;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static size_t rounded(size_t size) { return (size + ALIGN - 1) / ALIGN * ALIGN; }

static uint64_t at_most(uint64_t most, uint64_t value) { return value < most ? value : most; }

static uint64_t at_least(uint64_t least, uint64_t value) { return value > least ? value : least; }

// How many threads take so many seconds, but one at least.
static uint64_t threads_in(double seconds, const Run *run) {
    return at_least(1, (uint64_t)(seconds / (run->each > 1e-9 ? run->each : 1e-9)));
}

#ifdef __linux__
static Processors processors_but_this(void) {
    Processors result = {.is_known = false};
    const int here = sched_getcpu();
    if (here >= 0 && sched_getaffinity(0, sizeof result.set, &result.set) == 0) {
        CPU_CLR((unsigned)here, &result.set);
        result.is_known = CPU_COUNT(&result.set) > 0;
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

// Whether the worker has a thread; it gets one the first time.
static bool is_ready(Worker *worker) {
    if (!worker->is_started) {
        pthread_attr_t attributes;
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the threads of Python
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, STACK);
        worker->is_started = pthread_create(&worker->thread, &attributes, serve, worker) == 0;
        pthread_attr_destroy(&attributes);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return worker->is_started;
}

// Calls as many workers into the run as there is work for.
static void call_others(Pool *pool) {
    Run *run = &pool->run;
    const double seconds = run->each * (double)(run->end - run->begin);
    const double worth = WORTH_WAKING + PER_COPIED_BYTE * (double)run->copied;
    while (run->called + 1 < pool->workers && seconds >= worth * (double)(run->called + 1)) {
        Worker *worker = &pool->crew[run->called + 1];
        if (!is_ready(worker)) {
            return;
        }
        if (run->called == 0) { // so this is the first worker
            run->processors = processors_but_this();
        }
        move(worker, &run->processors);
        run->called++;
        run->working++;
        worker->is_called = true;
        pthread_cond_signal(&worker->call);
    }
}

// Takes the next part, after the last one was done; false if none is left. Parts are made for what a thread took in the
// last one: the first thread alone may have taken a thousand times as long as the next.
static bool take(Pool *pool, Part *part) {
    Run *run = &pool->run;
    pthread_mutex_lock(&pool->lock);
    const uint64_t done = part->end - part->begin;
    if (done > 0) {
        run->each = part->seconds / (double)done;
        run->most = at_least(run->most, done < UINT64_MAX / GROWTH ? done * GROWTH : UINT64_MAX);
    }
    if (__atomic_load_n(run->stop, __ATOMIC_RELAXED)) {
        run->begin = run->end;
    }
    const uint64_t left = run->end - run->begin;
    if (left > 0) {
        call_others(pool);
        uint64_t size = at_least(run->least, left / (pool->workers * PARTS_PER_WORKER));
        size = at_most(threads_in(LONGEST, run), at_least(threads_in(WORTH_TAKING, run), size));
        part->begin = run->begin;
        part->end = run->begin += at_most(left, at_most(run->most, size));
    }
    pthread_mutex_unlock(&pool->lock);
    return left > 0;
}

// The bindings for a worker, with new copies of those that are private; the first has the bindings themselves.
static void *const *bindings_of(const Worker *worker, const Run *run) {
    if (run->private_count == 0 || worker == worker->pool->crew) {
        return run->bindings;
    }
    char *end = worker->memory + rounded(run->scratch);
    void **bindings = (void **)(void *)(end + run->copied);
    memcpy(bindings, run->bindings, run->binding_count * sizeof *bindings);
    for (const Private *it = run->privates; it < run->privates + run->private_count; it++) {
        uint32_t *words = (uint32_t *)(void *)end;
        for (size_t i = 0; i < it->words; i++) {
            words[i] = it->kind->identity;
        }
        bindings[it->binding] = words;
        end += rounded(it->words * sizeof *words);
    }
    return bindings;
}

static void do_part(Worker *worker, Part *part) {
    const Run *run = &worker->pool->run;
    if (worker->bindings == NULL) {
        worker->bindings = bindings_of(worker, run);
    }
    const double started = now();
    run->entry(worker->bindings, run->numbers, part->begin, part->end, worker->memory, run->stop);
    part->seconds = now() - started;
}

// The life of a worker other than the first.
static void *serve(void *argument) {
    Worker *worker = argument;
    Pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!worker->is_called && !pool->is_closed) {
            pthread_cond_wait(&worker->call, &pool->lock);
        }
        if (pool->is_closed) {
            pthread_mutex_unlock(&pool->lock);
            return NULL;
        }
        worker->is_called = false;
        pthread_mutex_unlock(&pool->lock);
        for (Part part = {0}; take(pool, &part);) {
            do_part(worker, &part);
        }
        pthread_mutex_lock(&pool->lock);
        if (--pool->run.working == 0) {
            pthread_cond_signal(&pool->ended);
        }
    }
}

// Waits for a condition, but not much longer than an interrupt may have to wait. The lock is held.
static void wait_a_while(Pool *pool, pthread_cond_t *condition) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += (long)(LONGEST * 1e9);
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_cond_timedwait(condition, &pool->lock, &end);
}

// Lets Python handle signals; where that raises an exception, the run is to stop.
static void look_for_interrupts(Run *run, PyThreadState **python) {
    if (!run->is_interrupted) {
        PyEval_RestoreThread(*python);
        run->is_interrupted = PyErr_CheckSignals() != 0;
        *python = PyEval_SaveThread();
        if (run->is_interrupted) {
            __atomic_store_n(run->stop, 1, __ATOMIC_RELAXED);
        }
    }
}

// Does the whole run. False with an exception set if it was interrupted.
static bool do_all(Pool *pool) {
    Run *run = &pool->run;
    PyThreadState *python = PyEval_SaveThread();
    double looked = now();
    for (Part part = {0}; take(pool, &part);) {
        do_part(pool->crew, &part);
        if (now() - looked > LONGEST) {
            look_for_interrupts(run, &python);
            looked = now();
        }
    }
    pthread_mutex_lock(&pool->lock);
    while (run->working > 0) {
        wait_a_while(pool, &pool->ended);
        if (run->working > 0) {
            pthread_mutex_unlock(&pool->lock);
            look_for_interrupts(run, &python);
            pthread_mutex_lock(&pool->lock);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    for (size_t number = 1; number <= run->called; number++) {
        void *const *copies = pool->crew[number].bindings;
        for (const Private *it = run->privates; copies != NULL && it < run->privates + run->private_count; it++) {
            it->kind->merge(run->bindings[it->binding], copies[it->binding], it->words);
        }
    }
    PyEval_RestoreThread(python);
    return !run->is_interrupted;
}

// Waits until no other run is under way. False with an exception set if that was interrupted.
static bool enter(Pool *pool) {
    bool is_fine = true;
    PyThreadState *python = PyEval_SaveThread();
    pthread_mutex_lock(&pool->lock);
    while (pool->is_busy && is_fine) {
        wait_a_while(pool, &pool->idle);
        pthread_mutex_unlock(&pool->lock);
        PyEval_RestoreThread(python);
        is_fine = PyErr_CheckSignals() == 0;
        python = PyEval_SaveThread();
        pthread_mutex_lock(&pool->lock);
    }
    pool->is_busy |= is_fine;
    pthread_mutex_unlock(&pool->lock);
    PyEval_RestoreThread(python);
    return is_fine;
}

static void leave(Pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->is_busy = false;
    pthread_cond_signal(&pool->idle);
    pthread_mutex_unlock(&pool->lock);
}

// Whether every worker has as much memory as the run needs; else an exception is set.
static bool has_memory(Pool *pool) {
    const Run *run = &pool->run;
    const size_t addresses = run->private_count > 0 ? rounded(run->binding_count * sizeof(void *)) : 0;
    const size_t size = rounded(run->scratch) + run->copied + addresses;
    for (Worker *worker = pool->crew; worker < pool->crew + pool->workers; worker++) {
        if (worker->size < size) {
            free(worker->memory);
            worker->memory = aligned_alloc(ALIGN, size);
            worker->size = worker->memory == NULL ? 0 : size;
            if (worker->memory == NULL) {
                PyErr_NoMemory();
                return false;
            }
        }
        worker->bindings = NULL;
    }
    return true;
}

// Reads the tuples of (binding, kind, bytes) of the private bindings, for the caller to free. False with an exception
// set if they are wrong.
static bool read_privates(Run *run, PyObject *given) {
    const Py_ssize_t count = PyTuple_Size(given);
    run->privates = calloc((size_t)count + 1, sizeof *run->privates);
    if (run->privates == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t binding, size;
        const char *name;
        if (!PyArg_ParseTuple(PyTuple_GetItem(given, i), "nsn", &binding, &name, &size)) {
            return false;
        }
        Private *it = &run->privates[run->private_count++];
        it->binding = (size_t)binding;
        it->words = (size_t)size / sizeof(uint32_t);
        for (size_t kind = 0; kind < sizeof KINDS / sizeof *KINDS; kind++) {
            it->kind = strcmp(KINDS[kind].name, name) == 0 ? &KINDS[kind] : it->kind;
        }
        if (it->kind == NULL || it->binding >= run->binding_count) {
            PyErr_Format(PyExc_ValueError, "no binding %zd, or no kind '%s'", binding, name);
            return false;
        }
        run->copied += rounded((size_t)size);
    }
    return true;
}

static PyObject *pool_run(PyObject *self, PyObject *arguments) {
    Pool *pool = (Pool *)self;
    Run run = {0};
    unsigned long long entry, count, stop;
    const char *bindings, *numbers;
    Py_ssize_t bindings_size, numbers_size, scratch;
    PyObject *privates;
    if (!PyArg_ParseTuple(arguments, "Ky#y#KnO!Kd:run", &entry, &bindings, &bindings_size, &numbers, &numbers_size,
                          &count, &scratch, &PyTuple_Type, &privates, &stop, &run.each)) {
        return NULL;
    }
    run.entry = (Entry)(uintptr_t)entry;
    run.bindings = (void *const *)(const void *)bindings;
    run.binding_count = (size_t)bindings_size / sizeof(void *);
    run.numbers = (const uint64_t *)(const void *)numbers;
    run.scratch = (size_t)scratch;
    run.stop = (uint32_t *)(uintptr_t)stop;
    run.end = count;
    run.least = count / (pool->workers * MOST_PARTS_PER_WORKER);
    run.most = run.each > 0 ? UINT64_MAX : 1;
    bool is_fine = read_privates(&run, privates) && enter(pool);
    if (is_fine) {
        pool->run = run;
        if (run.stop == NULL) {
            pool->stop = 0;
            pool->run.stop = &pool->stop;
        }
        is_fine = has_memory(pool) && do_all(pool);
        run.each = pool->run.each;
        leave(pool);
    }
    free(run.privates);
    return is_fine ? PyFloat_FromDouble(run.each) : NULL;
}

static PyObject *pool_new(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    (void)names;
    Py_ssize_t workers;
    if (!PyArg_ParseTuple(arguments, "n:Pool", &workers)) {
        return NULL;
    }
    if (workers < 1 || workers > 1 << 16) {
        return PyErr_Format(PyExc_ValueError, "a pool has 1 to 65536 workers, not %zd", workers);
    }
    const allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Pool *pool = (Pool *)(void *)allocate(type, 0);
    Worker *crew = calloc((size_t)workers, sizeof *crew);
    if (pool == NULL || crew == NULL) {
        Py_XDECREF((PyObject *)pool);
        free(crew);
        return PyErr_NoMemory();
    }
    pool->process = getpid();
    pool->workers = (size_t)workers;
    pool->crew = crew;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->ended, NULL);
    pthread_cond_init(&pool->idle, NULL);
    for (Worker *worker = crew; worker < crew + workers; worker++) {
        worker->pool = pool;
        pthread_cond_init(&worker->call, NULL);
    }
    return (PyObject *)pool;
}

// Ends the threads. The child of a fork has none of them, and may have found the locks held.
static void close_pool(Pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->is_closed = true;
    for (Worker *worker = pool->crew; worker < pool->crew + pool->workers; worker++) {
        pthread_cond_signal(&worker->call);
    }
    pthread_mutex_unlock(&pool->lock);
    for (Worker *worker = pool->crew; worker < pool->crew + pool->workers; worker++) {
        if (worker->is_started) {
            pthread_join(worker->thread, NULL);
        }
        pthread_cond_destroy(&worker->call);
        free(worker->memory);
    }
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->ended);
    pthread_mutex_destroy(&pool->lock);
    free(pool->crew);
}

static void pool_dealloc(PyObject *self) {
    Pool *pool = (Pool *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (pool->crew != NULL && pool->process == getpid()) {
        close_pool(pool);
    }
    const freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *pool_workers(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromSize_t(((Pool *)self)->workers);
}

static PyMethodDef pool_methods[] = {
    {"run", pool_run, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef pool_members[] = {
    {"workers", pool_workers, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot pool_slots[] = {
    {Py_tp_new, pool_new},         {Py_tp_dealloc, pool_dealloc}, {Py_tp_methods, pool_methods},
    {Py_tp_getset, pool_members}, {0, NULL},
};

static PyType_Spec pool_type = {
    .name = "tinct.backend.cpu._pool.Pool",
    .basicsize = sizeof(Pool),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = pool_slots,
};

static int execute(PyObject *module) {
    PyObject *type = PyType_FromSpec(&pool_type);
    const int result = type == NULL ? -1 : PyModule_AddObjectRef(module, "Pool", type);
    Py_XDECREF(type);
    return result;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, execute}, {0, NULL}};

static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_pool",
    .m_size = 0,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__pool(void) { return PyModuleDef_Init(&module); }
