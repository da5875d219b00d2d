/*
 * module.c - the extension module coil._coil: the functions that coil/__init__.py
 * exports, and the C functions for coil/python.h.
 */
#include "run.h"
#include "stack.h"

#include <coil/python.h>

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030e0000
#error "coil supports CPython 3.11 to 3.13: state.h has the fields of these versions"
#endif
#ifdef Py_GIL_DISABLED
#error "coil does not support free-threaded builds of CPython"
#endif

static PyObject *run(PyObject *module, PyObject *const *args, Py_ssize_t count,
                     PyObject *names)
{
    (void)module;
    return coil_python_run(args, count, names);
}

static PyObject *await(PyObject *module, PyObject *awaitable)
{
    (void)module;
    return coil_python_await(awaitable);
}

static PyObject *can_await(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(stack_is_running());
}

static PyObject *stack_size(PyObject *module, PyObject *args)
{
    Py_ssize_t bytes = -1, before = stack_bytes();

    (void)module;
    if (!PyArg_ParseTuple(args, "|n:stack_size", &bytes) ||
        (PyTuple_GET_SIZE(args) > 0 && stack_set_bytes(bytes) < 0))
        return NULL;
    return PyLong_FromSsize_t(before);
}

static PyObject *close_all(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    coil_python_close_all();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL | METH_KEYWORDS,
     "run(function, /, *args, **kwargs)\n--\n\n"
     "Return an awaitable that calls the function on a stack of its own.\n\n"
     "Inside the function, at any depth and through any C code, await_() waits."},
    {"await_", await, METH_O,
     "await_(awaitable, /)\n--\n\n"
     "Wait for the awaitable and return its result. For functions that run in run()."},
    {"can_await", can_await, METH_NOARGS,
     "can_await()\n--\n\nTrue if the caller runs in run(), so that await_() may be "
     "called."},
    {"stack_size", stack_size, METH_VARARGS,
     "stack_size([bytes])\n--\n\n"
     "Return the size of new stacks, and set it. 0 is the default, 4 MiB."},
    {"_close_all", close_all, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int32_t api_can_await(void)
{
    return stack_is_running();
}

static struct coil_python_api api = {
    .size = sizeof api,
    .await_object = coil_python_await,
    .can_await = api_can_await,
};

/*
 * Check that the interpreter and the headers have the same minor version, because the
 * layout of the thread state differs between minor versions of CPython.
 */
static int check_interpreter(void)
{
    if (Py_Version >> 16 != PY_VERSION_HEX >> 16) {
        PyErr_Format(PyExc_ImportError,
                     "coil was built for CPython %d.%d, and this is %d.%d",
                     PY_MAJOR_VERSION, PY_MINOR_VERSION, (int)(Py_Version >> 24),
                     (int)(Py_Version >> 16 & 0xff));
        return -1;
    }
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "coil does not support subinterpreters");
        return -1;
    }
    return 0;
}

static int fill_module(PyObject *module)
{
    PyObject *capsule;
    int rc;

    if (check_interpreter() < 0 || PyType_Ready(&coil_python_run_type) < 0 ||
        PyModule_AddObjectRef(module, "Run", (PyObject *)&coil_python_run_type) < 0)
        return -1;
    capsule = PyCapsule_New(&api, COIL_PYTHON_API, NULL);
    rc = capsule == NULL ? -1 : PyModule_AddObjectRef(module, "_api", capsule);
    Py_XDECREF(capsule);
    return rc;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, fill_module},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "coil._coil",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__coil(void);

PyMODINIT_FUNC PyInit__coil(void)
{
    return PyModuleDef_Init(&definition);
}
