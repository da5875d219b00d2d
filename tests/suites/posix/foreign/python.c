/*
 * python.c - embedded CPython: each task has an interpreter state. The tasks acquire the
 * GIL as threads do, and wait for locks, conditions, queues and pipes.
 */
#define PY_SSIZE_T_CLEAN
#include "foreign.h"

#include <Python.h>

/*
 * threading.RLock treats all tasks of a thread as the same owner. The class Identity is
 * the workaround from docs/manual/posix.md, "State and ownership by thread".
 */
static const char setting_up[] =
    "import itertools, os, queue, threading, time\n"
    "class Identity(threading.local):\n"
    "    numbers = itertools.count(1)\n"
    "    def __init__(self):\n"
    "        self.number = next(self.numbers)\n"
    "identity = Identity()\n"
    "identity.number = threading.main_thread().ident\n"
    "threading.get_ident = lambda: identity.number\n"
    "threading.RLock = threading._PyRLock\n"
    "recursive = threading.RLock()\n"
    "inside = 0\n"
    "lock = threading.Lock()\n"
    "lock.acquire()\n"
    "condition = threading.Condition(threading.Lock())\n"
    "open_now = False\n"
    "numbers = queue.Queue()\n"
    "squares = []\n"
    "def use(n):\n"
    "    global inside\n"
    "    with recursive, recursive:\n"
    "        inside += 1\n"
    "        time.sleep(0.001)\n"
    "        assert inside == 1\n"
    "        inside -= 1\n"
    "    assert lock.acquire(timeout=200)\n"
    "    time.sleep(0.001)\n"
    "    lock.release()\n"
    "    with condition:\n"
    "        assert condition.wait_for(lambda: open_now, 200)\n"
    "    assert not lock.acquire(timeout=0.01) or lock.release() is None\n"
    "    number = numbers.get(timeout=200)\n"
    "    reader, writer = os.pipe()\n"
    "    threading.Timer(0.01, os.write, (writer, b'x')).start()\n"
    "    assert os.read(reader, 1) == b'x'\n"
    "    os.close(reader); os.close(writer)\n"
    "    squares.append(number * number)\n"
    "def other_side(uses):\n"
    "    global open_now\n"
    "    time.sleep(0.05)\n"
    "    lock.release()\n"
    "    time.sleep(0.05)\n"
    "    with condition:\n"
    "        open_now = True\n"
    "        condition.notify_all()\n"
    "    for i in range(uses):\n"
    "        time.sleep(0.001)\n"
    "        numbers.put(i)\n"
    "def stop(uses):\n"
    "    assert sorted(squares) == [i * i for i in range(uses)], squares\n";

static PyThreadState *first;
static PyInterpreterState *interpreter;

static bool start(void)
{
    bool right;

    Py_InitializeEx(0);
    interpreter = PyInterpreterState_Get();
    right = PyRun_SimpleString(setting_up) == 0;
    first = PyEval_SaveThread();
    return right;
}

static bool call(const char *function, int argument)
{
    PyThreadState *state = PyThreadState_New(interpreter);
    PyObject *module, *result;
    bool right;

    PyEval_RestoreThread(state);
    module = PyImport_AddModule("__main__");
    result = PyObject_CallMethod(module, function, "i", argument);
    right = result != NULL;
    if (!right)
        PyErr_Print();
    Py_XDECREF(result);
    PyThreadState_Clear(state);
    PyThreadState_DeleteCurrent();
    return right;
}

static bool use(int number)
{
    return call("use", number);
}

static bool other_side(void)
{
    return call("other_side", FOREIGN_USES);
}

static bool stop(void)
{
    bool right = call("stop", FOREIGN_USES);

    PyEval_RestoreThread(first);
    return Py_FinalizeEx() == 0 && right;
}

const struct foreign foreign = {.name = "CPython",
                                .option = "with a thread state for each task",
                                .tested =
                                    "locks, conditions, queues, pipes, recursive locks",
                                .start = start,
                                .use = use,
                                .other_side = other_side,
                                .stop = stop};
