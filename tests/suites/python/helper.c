/*
 * helper.c - an extension that awaits in C: qsort_r(3) calls a comparator, which calls a
 * Python function and awaits the coroutine that it returns.
 */
#include <coil/python.h>

#include <stdlib.h>

static int compare(const void *a, const void *b, void *function)
{
    PyObject *const *left = a, *const *right = b, *awaitable, *result;
    int order = 0;

    if (PyErr_Occurred())
        return 0;
    awaitable = PyObject_CallFunctionObjArgs(function, *left, *right, NULL);
    result = coil_await_object(awaitable);
    Py_XDECREF(awaitable);
    if (result != NULL)
        order = (int)PyLong_AsLong(result);
    Py_XDECREF(result);
    return order;
}

static PyObject *sort(PyObject *module, PyObject *args)
{
    PyObject *list, *function, *copy, **items;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O", &PyList_Type, &list, &function))
        return NULL;
    copy = PyList_GetSlice(list, 0, PyList_GET_SIZE(list));
    if (copy == NULL)
        return NULL;
    items = ((PyListObject *)copy)->ob_item;
    qsort_r(items, (size_t)PyList_GET_SIZE(copy), sizeof(PyObject *), compare, function);
    if (PyErr_Occurred()) {
        Py_DECREF(copy);
        return NULL;
    }
    return copy;
}

static PyObject *can_await(PyObject *module, PyObject *unused)
{
    int answer = coil_can_await();

    (void)module;
    (void)unused;
    return answer < 0 ? NULL : PyBool_FromLong(answer);
}

/* Call the Python function inside `depth` nested calls of this C function. */
static PyObject *descend(PyObject *function, int depth)
{
    char frame[200] = {0};
    PyObject *result =
        depth == 0 ? PyObject_CallNoArgs(function) : descend(function, depth - 1);

    __asm__ volatile("" : : "r"(frame) : "memory");
    return result;
}

static PyObject *call_deep(PyObject *module, PyObject *args)
{
    PyObject *function;
    int depth;

    (void)module;
    if (!PyArg_ParseTuple(args, "Oi", &function, &depth))
        return NULL;
    return descend(function, depth);
}

static PyMethodDef functions[] = {
    {"sort", sort, METH_VARARGS, NULL},
    {"can_await", can_await, METH_NOARGS, NULL},
    {"call_deep", call_deep, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "helper",
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit_helper(void);

PyMODINIT_FUNC PyInit_helper(void)
{
    return PyModule_Create(&definition);
}
