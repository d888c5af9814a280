// The Python type `tinct.backend.cpu._pool.Code`.
#ifndef TINCT_CODE_TYPE_H
#define TINCT_CODE_TYPE_H

#include <Python.h>

// A new reference; null with an exception set.
PyObject *code_type_new(void);

#endif
