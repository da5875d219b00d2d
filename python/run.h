/*
 * run.h - coil.run(), which returns an awaitable that runs a function on a stack of its
 * own.
 */
#ifndef COIL_PYTHON_RUN_H
#define COIL_PYTHON_RUN_H

#include <Python.h>

extern PyTypeObject coil_python_run_type;

/* Implements coil.run(fn, /, *args, **kwargs). Returns a new reference. */
PyObject *coil_python_run(PyObject *const *args, Py_ssize_t count, PyObject *names);

/*
 * Suspend the running function until `awaitable` has a result. Returns a new reference to
 * the result, or NULL with an exception set.
 */
PyObject *coil_python_await(PyObject *awaitable);

/*
 * Close the calling thread's runs that have not ended. Called when the interpreter exits.
 */
void coil_python_close_all(void);

#endif
