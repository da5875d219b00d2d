/*
 * coil/python.h - await in C, called from Python's asyncio.
 *
 *     static int compare(const void *a, const void *b)
 *     {
 *         PyObject *result = coil_await_object(ask_which_is_less(a, b));
 *         ...
 *     }
 *
 *     // in Python: await coil.run(sort)
 *
 * This header is for extension modules of CPython 3.11 to 3.13. A function that Python
 * calls with `await coil.run(function, ...)` runs on its own stack. Any C function that
 * it calls, directly or through a library such as libc's qsort(3), SQLite or expat, may
 * wait for an awaitable. No coil loop is involved: the call suspends the stack, and the
 * asyncio task resumes it.
 *
 * The package `coil` must be installed at run time; nothing is linked.
 * docs/manual/python.md explains with which C libraries this works.
 */
#ifndef COIL_PYTHON_H
#define COIL_PYTHON_H

#include <Python.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COIL_PYTHON_API "coil._coil._api"

/*
 * The functions that the package exports to C. New versions add members only at the end.
 */
struct coil_python_api {
    size_t size; /* size of the struct in the installed package, in bytes */
    PyObject *(*await_object)(PyObject *awaitable);
    int32_t (*can_await)(void);
};

/*
 * Return the package's functions. The first call imports the functions. If that fails,
 * returns NULL with ImportError set.
 */
static inline const struct coil_python_api *coil_python_api(void)
{
    static const struct coil_python_api *api;

    if (api == NULL)
        api = (const struct coil_python_api *)PyCapsule_Import(COIL_PYTHON_API, 0);
    return api;
}

/*
 * Suspend the calling function until `awaitable` has a result. (Python: await)
 *
 * Returns a new reference to the result, or NULL with an exception set:
 * - the awaitable's own exception,
 * - asyncio.CancelledError if the task was cancelled,
 * - GeneratorExit if the function was abandoned,
 * - RuntimeError outside of coil.run().
 *
 * Does not consume `awaitable`. If the argument is NULL, returns NULL, so callers need not
 * check the result of the call that creates the awaitable.
 *
 * The caller must hold the GIL, but must not hold a lock for which another task may wait.
 */
static inline PyObject *coil_await_object(PyObject *awaitable)
{
    const struct coil_python_api *api;

    if (awaitable == NULL || (api = coil_python_api()) == NULL)
        return NULL;
    return api->await_object(awaitable);
}

/*
 * Return 1 inside coil.run(), where coil_await_object() may be called, and 0 elsewhere.
 * Returns -1 with ImportError set if the package is not installed.
 */
static inline int coil_can_await(void)
{
    const struct coil_python_api *api = coil_python_api();

    return api != NULL ? (int)api->can_await() : -1;
}

#ifdef __cplusplus
}
#endif

#endif
