// Defines the module `tinct.backend.cpu._pool`: the type `Pool`, a crew of worker threads, and what belongs to it.
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdlib.h>

#include "code_type.h"
#include "crew.h"
#include "identity.h"
#include "interrupts.h"
#include "sequence.h"

static const double WORTH_WAKING = 100e-6; // seconds of work: a sleeping worker often begins 40 to 80 µs after a call

typedef struct {
    PyObject ob_base;
    Crew *crew;
} Pool;

typedef struct {
    PyObject ob_base;
    Stop stop;
} StopObject;

// Lets Python handle signals. False if that raises an exception, which stays set.
static bool handle_signals(void *context) {
    PyThreadState **state = context;
    PyEval_RestoreThread(*state);
    const bool is_fine = PyErr_CheckSignals() == 0;
    *state = PyEval_SaveThread();
    return is_fine;
}

// Sets the exception for a job that was not completed.
static void set_error(Result result) {
    if (result == OUT_OF_MEMORY) {
        PyErr_NoMemory();
    } else if (result == FORKED && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_RuntimeError, "this process was forked in the middle of the dispatch");
    }
}

// What a caller does, which may take long.
typedef Result (*Task)(Caller *caller, void *context);

// Does a task without Python's lock; false, with an exception set, if it was not completed. One that is stopped is
// completed.
static bool do_task(Crew *crew, Stop *stop, Task task, void *context) {
    Stop own = {0};
    Interrupts interrupts;
    const bool is_watching = interrupt_raises_here();
    PyThreadState *state;
    Caller caller = {
        .crew = crew,
        .stop = stop == NULL ? &own : stop,
        .stops_caller = is_watching || stop != NULL,
        .may_go_on = handle_signals,
        .context = &state,
    };
    if (is_watching) {
        interrupts_watch(&interrupts, caller.stop);
    }
    state = PyEval_SaveThread();
    Result result = crew_enter(&caller);
    if (result == DONE) {
        result = task(&caller, context);
        if (result != FORKED) {
            crew_leave(&caller);
        }
    }
    PyEval_RestoreThread(state);
    const bool came = is_watching && interrupts_unwatch(&interrupts);
    set_error(result);
    if (came && !PyErr_Occurred() && PyErr_CheckSignals() == 0) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
    return !PyErr_Occurred();
}

static Result do_job(Caller *caller, void *job) { return crew_do(caller, job, 1); }

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

static PyTypeObject *stop_type;

// Whether the object is a Stop or None; else an exception is set.
static bool is_stop(PyObject *object) {
    if (object != Py_None && Py_TYPE(object) != stop_type) {
        PyErr_Format(PyExc_TypeError, "a run is stopped by a Stop or None, not %R", object);
        return false;
    }
    return true;
}

// Whether the object is a bytearray that holds a Pace, or None; else an exception is set.
static bool is_pace(PyObject *object) {
    const bool is_fine = object == Py_None || (PyByteArray_Check(object) && PyByteArray_Size(object) == sizeof(Pace));
    if (!is_fine) {
        PyErr_Format(PyExc_TypeError, "a pace is a bytearray of %zu bytes or None, not %R", sizeof(Pace), object);
    }
    return is_fine;
}

static Stop *stop_of(PyObject *object) { return object == Py_None ? NULL : &((StopObject *)object)->stop; }

static PyObject *pool_run(PyObject *self, PyObject *arguments) {
    unsigned long long entry, count;
    const char *bindings, *numbers;
    Py_ssize_t bindings_size, numbers_size, scratch;
    PyObject *given, *stop, *pace = Py_None;
    double each;
    if (!PyArg_ParseTuple(arguments, "Ky#y#KnO!Od|O:run", &entry, &bindings, &bindings_size, &numbers, &numbers_size,
                          &count, &scratch, &PyTuple_Type, &given, &stop, &each, &pace)) {
        return NULL;
    }
    if (!is_stop(stop) || !is_pace(pace)) {
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
        .each = each,
        .pace = pace == Py_None ? NULL : (Pace *)(void *)PyByteArray_AsString(pace),
    };
    Private *privates = read_privates(given, job.private_count, job.binding_count);
    if (privates == NULL) {
        return NULL;
    }
    job.privates = privates;
    const bool is_fine = do_task(((Pool *)self)->crew, stop_of(stop), do_job, &job);
    free(privates);
    return is_fine ? PyFloat_FromDouble(job.each) : NULL;
}

// Views of the buffers that a sequence is read from; those that it writes are the first.
enum { STEPS, NUMBERS, MEMORIES, PLACES, EXTENTS, TERMS, SWAPS, UNTIL, VIEWS };

static Sequence sequence_in(const Py_buffer *views) {
    return (Sequence){
        .steps = views[STEPS].buf,
        .count = (size_t)views[STEPS].len / sizeof(Step),
        .places = views[PLACES].buf,
        .place_count = (size_t)views[PLACES].len / sizeof(Place),
        .numbers = views[NUMBERS].buf,
        .extents = views[EXTENTS].buf,
        .terms = views[TERMS].buf,
        .memories = views[MEMORIES].buf,
        .memory_count = (size_t)views[MEMORIES].len / sizeof(char *),
        .swaps = views[SWAPS].len == 0 ? NULL : views[SWAPS].buf,
        .until = views[UNTIL].len == 0 ? NULL : views[UNTIL].buf,
    };
}

// What a sequence has done, for Python; null with an exception set if it was not completed.
static PyObject *run_sequence(Crew *crew, const Py_buffer *views, PyObject *given, PyObject *stop,
                              unsigned long long executions, bool is_timed) {
    Sequence sequence = sequence_in(views);
    Private *privates = read_privates(given, (size_t)PyTuple_Size(given), SIZE_MAX);
    if (privates == NULL) {
        return NULL;
    }
    sequence.privates = privates;
    sequence.executions = executions;
    sequence.is_timed = is_timed;
    const bool is_fine = do_task(crew, stop_of(stop), sequence_run, &sequence);
    free(privates);
    return !is_fine ? NULL
                    : Py_BuildValue("(KOn(III))", sequence.executed, sequence.is_ended ? Py_True : Py_False,
                                    sequence.refused < sequence.count ? (Py_ssize_t)sequence.refused : -1,
                                    sequence.read[0], sequence.read[1], sequence.read[2]);
}

static PyObject *pool_run_sequence(PyObject *self, PyObject *arguments) {
    Py_buffer views[VIEWS];
    unsigned long long executions;
    PyObject *given, *stop;
    int is_timed;
    if (!PyArg_ParseTuple(arguments, "w*w*w*y*y*y*y*y*O!KpO:run_sequence", &views[STEPS], &views[NUMBERS],
                          &views[MEMORIES], &views[PLACES], &views[EXTENTS], &views[TERMS], &views[SWAPS],
                          &views[UNTIL], &PyTuple_Type, &given, &executions, &is_timed, &stop)) {
        return NULL;
    }
    PyObject *result = NULL;
    if (is_stop(stop)) {
        result = run_sequence(((Pool *)self)->crew, views, given, stop, executions, is_timed != 0);
    }
    for (size_t i = 0; i < VIEWS; i++) {
        PyBuffer_Release(&views[i]);
    }
    return result;
}

static PyObject *pool_new(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    (void)names;
    Py_ssize_t workers;
    double worth_waking = WORTH_WAKING, lingering = 0;
    if (!PyArg_ParseTuple(arguments, "n|dd:Pool", &workers, &worth_waking, &lingering)) {
        return NULL;
    }
    if (workers < 1 || workers > 1 << 16) {
        return PyErr_Format(PyExc_ValueError, "a pool has 1 to 65536 workers, not %zd", workers);
    }
    const allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = allocate(type, 0);
    if (self != NULL && (((Pool *)self)->crew = crew_new((size_t)workers, worth_waking, lingering)) == NULL) {
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
    {"run_sequence", pool_run_sequence, METH_VARARGS, NULL},
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

// Called with Python's lock, which `Pool.run` needs to return: so no job ends, nor any thread of it, meanwhile.
static PyObject *stop_raise_method(PyObject *self, PyObject *nothing) {
    (void)nothing;
    stop_raise(&((StopObject *)self)->stop);
    Py_RETURN_NONE;
}

static PyObject *stop_is_raised_member(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(stop_is_raised(&((StopObject *)self)->stop));
}

static PyMethodDef stop_methods[] = {
    {"raise_", stop_raise_method, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef stop_members[] = {
    {"is_raised", stop_is_raised_member, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot stop_slots[] = {
    {Py_tp_methods, stop_methods},
    {Py_tp_getset, stop_members},
    {0, NULL},
};

static PyType_Spec stop_spec = {
    .name = "tinct.backend.cpu._pool.Stop",
    .basicsize = sizeof(StopObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = stop_slots,
};

static PyObject *processor_identity(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    uint32_t words[IDENTITY_WORDS];
    const size_t count = identity_of_processor(words);
    return PyBytes_FromStringAndSize((const char *)words, (Py_ssize_t)(count * sizeof *words));
}

static PyMethodDef module_functions[] = {
    {"processor_identity", processor_identity, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

// Adds a type, of which it takes the reference, to the module; false with an exception set if there is none.
static bool add_type(PyObject *module, const char *name, PyObject *type) {
    const bool is_added = type != NULL && PyModule_AddObjectRef(module, name, type) == 0;
    Py_XDECREF(type);
    return is_added;
}

static int execute(PyObject *module) {
    if (!interrupts_set_up()) {
        return -1;
    }
    stop_type = (PyTypeObject *)PyType_FromSpec(&stop_spec);
    Py_XINCREF(stop_type); // which outlives the module
    const bool is_fine = add_type(module, "Stop", (PyObject *)stop_type) &&
                         add_type(module, "Pool", PyType_FromSpec(&pool_type)) &&
                         add_type(module, "Code", code_type_new());
    return is_fine ? 0 : -1;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, execute}, {0, NULL}};

static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_pool",
    .m_size = 0,
    .m_methods = module_functions,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__pool(void) { return PyModuleDef_Init(&module); }
