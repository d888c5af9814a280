#define _GNU_SOURCE // RTLD_DEFAULT
#define PY_SSIZE_T_CLEAN
#include "code_type.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "code.h"

typedef struct {
    PyObject ob_base;
    Code code;
} CodeObject;

// The slots from a tuple of (offset, name of a function), for the caller to free; null with an exception set.
static Slot *read_slots(PyObject *given) {
    const Py_ssize_t count = PyTuple_Size(given);
    Slot *slots = calloc((size_t)count + 1, sizeof *slots);
    if (slots == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t offset;
        const char *name;
        if (!PyArg_ParseTuple(PyTuple_GetItem(given, i), "ns", &offset, &name)) {
            free(slots);
            return NULL;
        }
        slots[i] = (Slot){(size_t)offset, (uintptr_t)dlsym(RTLD_DEFAULT, name)};
        if (slots[i].address == 0) {
            PyErr_Format(PyExc_ValueError, "no library of this process has a function '%s'", name);
            free(slots);
            return NULL;
        }
    }
    return slots;
}

static void set_error(CodeResult result) {
    if (result == CODE_REFUSED) {
        PyErr_SetFromErrno(PyExc_OSError);
    } else if (result == CODE_UNFIT) {
        PyErr_SetString(PyExc_ValueError, "the image cannot be loaded");
    }
}

static PyObject *code_new(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    (void)names;
    const char *image;
    Py_ssize_t size, executable;
    PyObject *given;
    if (!PyArg_ParseTuple(arguments, "y#nO!:Code", &image, &size, &executable, &PyTuple_Type, &given)) {
        return NULL;
    }
    Slot *slots = read_slots(given);
    if (slots == NULL) {
        return NULL;
    }
    const allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = allocate(type, 0);
    if (self != NULL) {
        Code *code = &((CodeObject *)self)->code;
        const size_t count = (size_t)PyTuple_Size(given);
        const CodeResult result = code_load(code, image, (size_t)size, (size_t)executable, slots, count);
        if (result != CODE_LOADED) {
            set_error(result);
            Py_DECREF(self);
            self = NULL;
        }
    }
    free(slots);
    return self;
}

static void code_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    const freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    code_free(&((CodeObject *)self)->code);
    release(self);
    Py_DECREF(type);
}

static PyObject *code_address(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromVoidPtr(((CodeObject *)self)->code.start);
}

static PyGetSetDef code_members[] = {
    {"address", code_address, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot code_slots[] = {
    {Py_tp_new, code_new},
    {Py_tp_dealloc, code_dealloc},
    {Py_tp_getset, code_members},
    {0, NULL},
};

static PyType_Spec code_spec = {
    .name = "tinct.backend.cpu._pool.Code",
    .basicsize = sizeof(CodeObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = code_slots,
};

PyObject *code_type_new(void) { return PyType_FromSpec(&code_spec); }
