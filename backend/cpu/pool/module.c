// Defines the Python type `tinct.backend.cpu._pool.Pool`, a crew of worker threads.
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdlib.h>

#include "crew.h"
#include "interrupts.h"

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

// Runs a job; false, with an exception set, if it was not completed. A stopped job is not an error.
static bool do_job(Crew *crew, Job *job) {
    Stop own = {0};
    Interrupts interrupts;
    const bool is_watching = interrupt_raises_here();
    job->stops_caller = is_watching || job->stop != NULL;
    job->stop = job->stop == NULL ? &own : job->stop;
    if (is_watching) {
        interrupts_watch(&interrupts, job->stop);
    }
    PyThreadState *state = PyEval_SaveThread();
    const Result result = crew_do(crew, job, handle_signals, &state);
    PyEval_RestoreThread(state);
    const bool came = is_watching && interrupts_unwatch(&interrupts);
    set_error(result);
    if (came && !PyErr_Occurred() && PyErr_CheckSignals() == 0) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
    return !PyErr_Occurred();
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

static PyTypeObject *stop_type;

static PyObject *pool_run(PyObject *self, PyObject *arguments) {
    unsigned long long entry, count;
    const char *bindings, *numbers;
    Py_ssize_t bindings_size, numbers_size, scratch;
    PyObject *given, *stop;
    double each;
    if (!PyArg_ParseTuple(arguments, "Ky#y#KnO!Od:run", &entry, &bindings, &bindings_size, &numbers, &numbers_size,
                          &count, &scratch, &PyTuple_Type, &given, &stop, &each)) {
        return NULL;
    }
    if (stop != Py_None && Py_TYPE(stop) != stop_type) {
        return PyErr_Format(PyExc_TypeError, "a run is stopped by a Stop or None, not %R", stop);
    }
    Job job = {
        .entry = (Entry)(uintptr_t)entry,
        .bindings = (void *const *)(const void *)bindings,
        .binding_count = (size_t)bindings_size / sizeof(void *),
        .numbers = (const uint64_t *)(const void *)numbers,
        .count = count,
        .scratch = (size_t)scratch,
        .private_count = (size_t)PyTuple_Size(given),
        .stop = stop == Py_None ? NULL : &((StopObject *)stop)->stop,
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

static int execute(PyObject *module) {
    if (!interrupts_set_up()) {
        return -1;
    }
    stop_type = (PyTypeObject *)PyType_FromSpec(&stop_spec);
    PyObject *type = PyType_FromSpec(&pool_type);
    if (stop_type == NULL || type == NULL) {
        Py_XDECREF(type);
        return -1;
    }
    const int result = PyModule_AddObjectRef(module, "Pool", type);
    Py_DECREF(type);
    return result == 0 ? PyModule_AddObjectRef(module, "Stop", (PyObject *)stop_type) : result;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, execute}, {0, NULL}};

static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_pool",
    .m_size = 0,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__pool(void) { return PyModuleDef_Init(&module); }
