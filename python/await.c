/*
 * await.c - implements Python's `await` for C functions that run on one of coil's stacks.
 *
 * An awaitable is awaited by advancing its iterator. Each object that the iterator
 * yields, such as an asyncio.Future, is passed to the code that resumed the stack, and
 * from there to an asyncio.Task, which resumes the stack when the future is done. The
 * code follows the definition of `yield from` in PEP 380, with stack_suspend() instead of
 * yield.
 */
#include "run.h"
#include "stack.h"

/*
 * Return an iterator for the awaitable, like CPython's private
 * _PyCoro_GetAwaitableIter(). Returns a new reference.
 */
static PyObject *awaitable_iterator(PyObject *awaitable)
{
    const PyAsyncMethods *methods = Py_TYPE(awaitable)->tp_as_async;
    PyObject *iterator;

    if (PyCoro_CheckExact(awaitable))
        return Py_NewRef(awaitable);
    if (PyGen_CheckExact(awaitable)) {
        PyObject *code = PyObject_GetAttrString(awaitable, "gi_code");
        int flags;

        if (code == NULL)
            return NULL;
        flags = ((PyCodeObject *)code)->co_flags;
        Py_DECREF(code);
        if (flags & CO_ITERABLE_COROUTINE)
            return Py_NewRef(awaitable);
    }
    if (methods == NULL || methods->am_await == NULL) {
        PyErr_Format(PyExc_TypeError, "object %.100s can't be used in coil.await_()",
                     Py_TYPE(awaitable)->tp_name);
        return NULL;
    }
    iterator = methods->am_await(awaitable);
    if (iterator == NULL)
        return NULL;
    if (PyCoro_CheckExact(iterator)) {
        PyErr_SetString(PyExc_TypeError, "__await__() returned a coroutine");
    } else if (!PyIter_Check(iterator)) {
        PyErr_Format(PyExc_TypeError,
                     "__await__() returned non-iterator of type '%.100s'",
                     Py_TYPE(iterator)->tp_name);
    } else {
        return iterator;
    }
    Py_DECREF(iterator);
    return NULL;
}

/*
 * Return the value of the current StopIteration, and clear this exception. Returns None
 * if no exception is set, and NULL if another exception is set.
 */
static PyObject *take_return_value(void)
{
    PyObject *type, *value, *traceback, *result = NULL;

    if (!PyErr_Occurred())
        return Py_NewRef(Py_None);
    if (!PyErr_ExceptionMatches(PyExc_StopIteration))
        return NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value != NULL)
        result = PyObject_GetAttrString(value, "value");
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return result;
}

/*
 * Call iterator.close(), if the iterator has this method. Returns -1 with an exception
 * set.
 */
static int close_iterator(PyObject *iterator)
{
    PyObject *close = PyObject_GetAttrString(iterator, "close");
    PyObject *result;

    if (close == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    result = PyObject_CallNoArgs(close);
    Py_DECREF(close);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* Close the awaited iterator, and leave GeneratorExit set, as PEP 380 requires. */
static PySendResult close_and_raise(PyObject *iterator)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    if (close_iterator(iterator) < 0) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
    } else {
        PyErr_Restore(type, value, traceback);
    }
    return PYGEN_ERROR;
}

/* Throw the current exception into the awaited iterator. */
static PySendResult throw_into(PyObject *iterator, PyObject **result)
{
    PyObject *type, *value, *traceback, *throw;

    *result = NULL;
    if (PyErr_ExceptionMatches(PyExc_GeneratorExit))
        return close_and_raise(iterator);
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL)
        PyException_SetTraceback(value, traceback);
    throw = PyObject_GetAttrString(iterator, "throw");
    if (throw == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Restore(type, value, traceback);
        return PYGEN_ERROR;
    }
    if (throw != NULL)
        *result = PyObject_CallOneArg(throw, value);
    Py_XDECREF(throw);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    if (*result != NULL)
        return PYGEN_NEXT;
    *result = take_return_value();
    return *result != NULL ? PYGEN_RETURN : PYGEN_ERROR;
}

PyObject *coil_python_await(PyObject *awaitable)
{
    PyObject *iterator, *result;
    PySendResult state;

    if (!stack_is_running()) {
        PyErr_SetString(PyExc_RuntimeError,
                        "coil.await_() must be called by a function that runs in "
                        "`await coil.run(function, ...)`; in a coroutine, use `await`");
        return NULL;
    }
    iterator = awaitable_iterator(awaitable);
    if (iterator == NULL)
        return NULL;
    state = PyIter_Send(iterator, Py_None, &result);
    while (state == PYGEN_NEXT) {
        PyObject *sent = stack_suspend(result);

        if (sent != NULL) {
            state = PyIter_Send(iterator, sent, &result);
            Py_DECREF(sent);
        } else {
            state = throw_into(iterator, &result);
        }
    }
    Py_DECREF(iterator);
    return result;
}
