// Makes a crew of worker threads a type of Python's, `tinct.backend.cpu._pool.Pool`.
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crew.h"

typedef struct {
    PyObject ob_base;
    Crew *crew;
} Pool;

// Of Python's module `_signal`, since `signal.getsignal` takes ten times as long to say the same.
static PyObject *getsignal, *default_int_handler, *number_of_interrupt;

// Python handles signals between its own instructions, so an interrupt would not end machine code that loops for ever.
// While the main thread is at it, an interrupt that is sure to raise KeyboardInterrupt stops the job, too.
typedef struct {
    uint32_t *stop;
    struct sigaction python;
    volatile sig_atomic_t came;
} Interrupts;

static Interrupts *volatile watched; // by the main thread, on its stack
static pthread_t main_thread;

// Found out once in each thread: a call of the system takes longer than all else that a small dispatch needs.
static bool is_main_thread(void) {
    static _Thread_local enum { UNKNOWN, MAIN, OTHER } thread;
    if (thread == UNKNOWN) {
#ifdef __linux__
        thread = syscall(SYS_gettid) == getpid() ? MAIN : OTHER;
#else
        thread = pthread_main_np() ? MAIN : OTHER;
#endif
        main_thread = thread == MAIN ? pthread_self() : main_thread;
    }
    return thread == MAIN;
}

static void on_interrupt(int number, siginfo_t *info, void *context) {
    if (!pthread_equal(pthread_self(), main_thread)) {
        pthread_kill(main_thread, number); // which may be about to leave what it watches
        return;
    }
    Interrupts *interrupts = watched;
    interrupts->came = 1;
    __atomic_store_n(interrupts->stop, 1, __ATOMIC_RELAXED);
    if (interrupts->python.sa_flags & SA_SIGINFO) {
        interrupts->python.sa_sigaction(number, info, context);
    } else if (interrupts->python.sa_handler != SIG_DFL && interrupts->python.sa_handler != SIG_IGN) {
        interrupts->python.sa_handler(number);
    }
}

// Whether an interrupt would raise KeyboardInterrupt in this thread.
static bool interrupt_raises_here(void) {
    if (!is_main_thread()) {
        return false;
    }
    PyObject *handler = PyObject_CallFunctionObjArgs(getsignal, number_of_interrupt, NULL);
    PyErr_Clear();
    Py_XDECREF(handler);
    return handler == default_int_handler;
}

static void watch(Interrupts *interrupts) {
    struct sigaction action = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    watched = interrupts;
    sigaction(SIGINT, &action, &interrupts->python);
}

static void unwatch(const Interrupts *interrupts, Interrupts *before) {
    sigaction(SIGINT, &interrupts->python, NULL);
    watched = before;
}

// Lets Python handle signals. False if that raises an exception, which stays set.
static bool handle_signals(void *context) {
    PyThreadState **state = context;
    PyEval_RestoreThread(*state);
    const bool is_fine = PyErr_CheckSignals() == 0;
    *state = PyEval_SaveThread();
    return is_fine;
}

// Does a job; false with an exception set if that came to nothing.
static bool do_job(Crew *crew, Job *job) {
    uint32_t stop = 0;
    job->stop = job->stop == NULL ? &stop : job->stop;
    Interrupts interrupts = {.stop = job->stop}, *before = watched;
    const bool is_watching = interrupt_raises_here();
    if (is_watching) {
        watch(&interrupts);
    }
    PyThreadState *state = PyEval_SaveThread();
    const Result result = crew_do(crew, job, handle_signals, &state);
    PyEval_RestoreThread(state);
    if (is_watching) {
        unwatch(&interrupts, before);
    }
    if (result == OUT_OF_MEMORY) {
        PyErr_NoMemory();
    } else if (result == DONE && interrupts.came && PyErr_CheckSignals() == 0) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
    return result == DONE && !interrupts.came;
}

// The private bindings from tuples of (binding, kind, bytes), for the caller to free; null with an exception set if
// they are wrong.
static Private *read_privates(PyObject *given, size_t count, size_t binding_count) {
    Private *privates = calloc(count + 1, sizeof *privates);
    if (privates == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        Py_ssize_t binding, size;
        const char *name;
        if (!PyArg_ParseTuple(PyTuple_GetItem(given, (Py_ssize_t)i), "nsn", &binding, &name, &size)) {
            free(privates);
            return NULL;
        }
        privates[i] = (Private){(size_t)binding, (size_t)size / sizeof(uint32_t), kind_named(name)};
        if (privates[i].kind == NULL || privates[i].binding >= binding_count) {
            PyErr_Format(PyExc_ValueError, "no binding %zd, or no kind '%s'", binding, name);
            free(privates);
            return NULL;
        }
    }
    return privates;
}

static PyObject *pool_run(PyObject *self, PyObject *arguments) {
    unsigned long long entry, count, stop;
    const char *bindings, *numbers;
    Py_ssize_t bindings_size, numbers_size, scratch;
    PyObject *given;
    double each;
    if (!PyArg_ParseTuple(arguments, "Ky#y#KnO!Kd:run", &entry, &bindings, &bindings_size, &numbers, &numbers_size,
                          &count, &scratch, &PyTuple_Type, &given, &stop, &each)) {
        return NULL;
    }
    Job job = {
        .entry = (Entry)(uintptr_t)entry,
        .bindings = (void *const *)(const void *)bindings,
        .binding_count = (size_t)bindings_size / sizeof(void *),
        .numbers = (const uint64_t *)(const void *)numbers,
        .count = count,
        .scratch = (size_t)scratch,
        .private_count = (size_t)PyTuple_Size(given),
        .stop = (uint32_t *)(uintptr_t)stop,
        .each = each,
    };
    Private *privates = read_privates(given, job.private_count, job.binding_count);
    if (privates == NULL) {
        return NULL;
    }
    job.privates = privates;
    const bool is_fine = do_job(((Pool *)self)->crew, &job);
    free(privates);
    return is_fine ? PyFloat_FromDouble(job.each) : NULL;
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
    PyObject *self = allocate(type, 0);
    if (self != NULL && (((Pool *)self)->crew = crew_new((size_t)workers)) == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return self;
}

static void pool_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    const freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    crew_free(((Pool *)self)->crew);
    release(self);
    Py_DECREF(type);
}

static PyObject *pool_workers(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromSize_t(crew_size(((Pool *)self)->crew));
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
    {Py_tp_new, pool_new},
    {Py_tp_dealloc, pool_dealloc},
    {Py_tp_methods, pool_methods},
    {Py_tp_getset, pool_members},
    {0, NULL},
};

static PyType_Spec pool_type = {
    .name = "tinct.backend.cpu._pool.Pool",
    .basicsize = sizeof(Pool),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = pool_slots,
};

static int execute(PyObject *module) {
    PyObject *signals = PyImport_ImportModule("_signal");
    if (signals == NULL) {
        return -1;
    }
    getsignal = PyObject_GetAttrString(signals, "getsignal");
    default_int_handler = PyObject_GetAttrString(signals, "default_int_handler");
    number_of_interrupt = PyObject_GetAttrString(signals, "SIGINT");
    Py_DECREF(signals);
    PyObject *type = PyType_FromSpec(&pool_type);
    if (getsignal == NULL || default_int_handler == NULL || number_of_interrupt == NULL || type == NULL) {
        Py_XDECREF(type);
        return -1;
    }
    const int result = PyModule_AddObjectRef(module, "Pool", type);
    Py_DECREF(type);
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
