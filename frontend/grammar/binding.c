// Hands the generated parser's language to Python, as the capsule that tree_sitter.Language takes.
#include <Python.h>

typedef struct TSLanguage TSLanguage;
const TSLanguage *tree_sitter_wgsl(void);

static PyObject *language(PyObject *self, PyObject *arguments) {
    (void)self;
    (void)arguments;
    return PyCapsule_New((void *)tree_sitter_wgsl(), "tree_sitter.Language", NULL);
}

static PyMethodDef methods[] = {
    {"language", language, METH_NOARGS, "The WGSL grammar, as a capsule named \"tree_sitter.Language\"."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_binding",
    .m_doc = "The generated WGSL parser.",
    .m_size = 0,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__binding(void) {
    return PyModuleDef_Init(&module);
}
