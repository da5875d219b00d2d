/*
 * python.c - embedded CPython: each task has its own PyThreadState, so a task may be
 * suspended anywhere in Python code while other tasks run Python code.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <coil.h>

struct interpreter {
    PyThreadState *thread;
};

static void enter(void *memory, void *data)
{
    struct interpreter *state = memory;

    (void)data;
    if (state->thread == NULL)
        state->thread = PyThreadState_New(PyInterpreterState_Main());
    PyEval_RestoreThread(state->thread);
}

static void leave(void *memory, void *data)
{
    (void)memory, (void)data;
    PyEval_SaveThread();
}

static void end(void *memory, void *data)
{
    struct interpreter *state = memory;

    (void)data;
    PyThreadState_Clear(state->thread);
    PyThreadState_DeleteCurrent();
}

static const coil_task_hooks python = {sizeof(struct interpreter), enter, leave, end,
                                       NULL};
static const coil_task_hooks *const hooks[] = {&python, NULL};

static PyObject *py_sleep(PyObject *self, PyObject *args)
{
    int ms;

    (void)self;
    if (!PyArg_ParseTuple(args, "i", &ms))
        return NULL;
    return PyLong_FromLong(coil_sleep(COIL_MSEC(ms)));
}

static PyObject *create_module(void)
{
    static PyMethodDef methods[] = {{"sleep", py_sleep, METH_VARARGS, NULL}, {0}};
    static PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "coil", .m_size = -1,
                                 .m_methods = methods};

    return PyModule_Create(&module);
}

static const char code[] = "import coil, sys\n"
                           "def go(n, depth):\n"
                           "    try:\n"
                           "        raise ValueError(n, depth)\n"
                           "    except ValueError:\n"
                           "        coil.sleep(n)\n"
                           "        if depth:\n"
                           "            go(n, depth - 1)\n"
                           "        coil.sleep(1)\n"
                           "        assert sys.exc_info()[1].args == (n, depth)\n"
                           "def numbers(n):\n"
                           "    for i in range(5):\n"
                           "        coil.sleep(n)\n"
                           "        yield i * n\n"
                           "def main(n):\n"
                           "    go(n, 10)\n"
                           "    assert sum(numbers(n)) == 10 * n\n";

static int run_python(void *arg)
{
    PyObject *main = PyImport_AddModule("__main__");
    PyObject *result = PyObject_CallMethod(main, "main", "i", *(int *)arg);

    if (result == NULL)
        PyErr_Print();
    Py_XDECREF(result);
    return result != NULL ? 0 : -EINVAL;
}

static int app(void *arg)
{
    coil_spawn_opts opts = {.stack_bytes = 1 << 20, .hooks = hooks};
    int numbers[] = {1, 2, 3, 4};
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    for (int i = 0; i < 4; i++)
        coil_group_spawn(&group, run_python, &numbers[i], &opts, NULL);
    return coil_group_exit(&group, 0);
}

int main(void)
{
    PyThreadState *thread;
    int rc;

    PyImport_AppendInittab("coil", create_module);
    Py_Initialize();
    if (PyRun_SimpleString(code) != 0)
        return 1;
    thread = PyEval_SaveThread();
    rc = coil_run(app, NULL, NULL);
    PyEval_RestoreThread(thread);
    Py_Finalize();
    puts(rc == 0 ? "ok" : "failed");
    return rc != 0;
}
