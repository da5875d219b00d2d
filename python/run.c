/*
 * run.c - a run: the awaitable that coil.run() returns. A run behaves like a coroutine
 * object:
 *
 *     created --send()--> running --function returns or raises--> closed
 *                          |   ^
 *              await_()    v   |   send(), throw()
 *                        suspended
 *
 * Closing or deallocating a suspended run throws GeneratorExit into it. Only the thread
 * that owns a stack can resume the stack, but the garbage collector may run on any
 * thread. So if a run is collected on another thread, it is passed to its own thread,
 * which closes the run at its next coil.run().
 *
 * The garbage collector does not see references on a C stack. So a suspended run to which
 * only its own stack refers is never collected. When the interpreter begins to exit, the
 * main thread closes its suspended runs.
 */
#include "run.h"
#include "stack.h"

#include <structmember.h>

enum run_state { CREATED, RUNNING, SUSPENDED, CLOSED };

/* Data that a thread shares with the runs that began on it, guarded by the GIL. */
struct home {
    Py_ssize_t references; /* the thread and each run that has begun hold a reference */
    struct run *begun;     /* list of the runs that have begun but not ended; not owned */
    struct run *abandoned; /* list of the runs that the thread has to close; owned */
    bool is_gone;          /* the thread has ended */
};

struct run {
    PyObject base;
    enum run_state state;
    struct stack *stack;
    struct home *home; /* NULL before the run begins */
    struct run *next;  /* next run in home->begun */
    struct run **link; /* the pointer in the list that points to this run */
    struct run *next_abandoned;
    PyObject *function;
    PyObject *args;
    PyObject *kwargs; /* or NULL */
    PyObject *weak_references;
};

static __thread struct home *thread_home;

static void release_home(struct home *home)
{
    if (home != NULL && --home->references == 0)
        PyMem_Free(home);
}

static void end_home(PyObject *capsule)
{
    struct home *home = PyCapsule_GetPointer(capsule, NULL);

    home->is_gone = true;
    if (thread_home == home)
        thread_home = NULL;
    release_home(home);
}

static struct home *create_home(void)
{
    PyObject *dict = PyThreadState_GetDict(), *capsule;
    struct home *home = PyMem_Calloc(1, sizeof *home);
    int rc;

    if (dict == NULL || home == NULL) {
        PyMem_Free(home);
        PyErr_NoMemory();
        return NULL;
    }
    home->references = 1;
    capsule = PyCapsule_New(home, NULL, end_home);
    if (capsule == NULL) {
        PyMem_Free(home);
        return NULL;
    }
    rc = PyDict_SetItemString(dict, "coil.runs", capsule);
    if (rc == 0)
        thread_home = home;
    Py_DECREF(capsule);
    return rc == 0 ? home : NULL;
}

/*
 * Call the function; this is the job of the run's stack. As in PEP 479, StopIteration is
 * replaced with another exception, because a StopIteration would be taken for a result.
 */
static PyObject *call_function(void *arg)
{
    struct run *run = arg;
    PyObject *result = PyObject_Call(run->function, run->args, run->kwargs);

    if (result == NULL && PyErr_ExceptionMatches(PyExc_StopIteration)) {
        PyObject *type, *value, *traceback, *raised;

        PyErr_Fetch(&type, &value, &traceback);
        PyErr_NormalizeException(&type, &value, &traceback);
        if (traceback != NULL)
            PyException_SetTraceback(value, traceback);
        PyErr_SetString(PyExc_RuntimeError, "coil.run() raised StopIteration");
        Py_XDECREF(type);
        Py_XDECREF(traceback);
        PyErr_Fetch(&type, &raised, &traceback);
        PyErr_NormalizeException(&type, &raised, &traceback);
        PyException_SetContext(raised, Py_NewRef(value));
        PyException_SetCause(raised, value);
        PyErr_Restore(type, raised, traceback);
    }
    return result;
}

static void close_abandoned(struct home *home);

static void add_to_home(struct run *run, struct home *home)
{
    run->home = home;
    home->references++;
    run->next = home->begun;
    run->link = &home->begun;
    if (run->next != NULL)
        run->next->link = &run->next;
    home->begun = run;
}

static void unlink_run(struct run *run)
{
    if (run->link == NULL)
        return;
    *run->link = run->next;
    if (run->next != NULL)
        run->next->link = run->link;
    run->link = NULL;
}

static int begin(struct run *run)
{
    struct home *home = thread_home != NULL ? thread_home : create_home();

    if (home == NULL)
        return -1;
    close_abandoned(home);
    run->stack = stack_acquire(call_function, run);
    if (run->stack == NULL)
        return -1;
    add_to_home(run, home);
    return 0;
}

static void end(struct run *run)
{
    stack_release(run->stack);
    run->stack = NULL;
    unlink_run(run);
    release_home(run->home);
    run->home = NULL;
    run->state = CLOSED;
    Py_CLEAR(run->function);
    Py_CLEAR(run->args);
    Py_CLEAR(run->kwargs);
}

/* Resume the run with `value`, or with the current exception if `value` is NULL. */
static PySendResult resume(struct run *run, PyObject *value, PyObject **result)
{
    Py_INCREF(run);
    run->state = RUNNING;
    *result = stack_resume(run->stack, Py_XNewRef(value));
    if (!stack_is_done(run->stack)) {
        run->state = SUSPENDED;
        Py_DECREF(run);
        return PYGEN_NEXT;
    }
    end(run);
    Py_DECREF(run);
    return *result != NULL ? PYGEN_RETURN : PYGEN_ERROR;
}

static int check_is_free(struct run *run)
{
    if (run->state == RUNNING) {
        PyErr_SetString(PyExc_ValueError, "coil.run() is already being awaited");
        return -1;
    }
    if (run->state == SUSPENDED && run->home != thread_home) {
        PyErr_SetString(PyExc_RuntimeError,
                        "coil.run() can only be resumed by the thread that began it");
        return -1;
    }
    return 0;
}

static PySendResult run_send(struct run *run, PyObject *value, PyObject **result)
{
    *result = NULL;
    if (check_is_free(run) < 0)
        return PYGEN_ERROR;
    if (run->state == CLOSED) {
        PyErr_SetString(PyExc_RuntimeError, "cannot reuse already awaited coil.run()");
        return PYGEN_ERROR;
    }
    if (run->state == CREATED) {
        if (value != Py_None) {
            PyErr_SetString(PyExc_TypeError,
                            "can't send non-None value to a just-started coil.run()");
            return PYGEN_ERROR;
        }
        if (begin(run) < 0)
            return PYGEN_ERROR;
    }
    return resume(run, value, result);
}

/*
 * Convert the result of resume() into the return value of send(), throw() or __next__().
 */
static PyObject *step_result(PySendResult state, PyObject *result)
{
    PyObject *stop;

    if (state != PYGEN_RETURN)
        return result;
    /*
     * Create the exception explicitly, because PyErr_SetObject() would pass the items of
     * a tuple to the constructor as separate arguments.
     */
    stop = PyObject_CallOneArg(PyExc_StopIteration, result);
    Py_DECREF(result);
    if (stop != NULL) {
        PyErr_SetObject(PyExc_StopIteration, stop);
        Py_DECREF(stop);
    }
    return NULL;
}

static PyObject *run_iternext(struct run *run)
{
    PyObject *result;
    PySendResult state = run_send(run, Py_None, &result);

    if (state == PYGEN_RETURN && result == Py_None) {
        Py_DECREF(result);
        return NULL;
    }
    return step_result(state, result);
}

static PyObject *run_send_method(struct run *run, PyObject *value)
{
    PyObject *result;
    PySendResult state = run_send(run, value, &result);

    return step_result(state, result);
}

/* Resume the run by raising the current exception in it. */
static PySendResult throw_exception(struct run *run, PyObject **result)
{
    *result = NULL;
    if (check_is_free(run) < 0)
        return PYGEN_ERROR;
    if (run->state == SUSPENDED)
        return resume(run, NULL, result);
    if (run->state == CLOSED)
        PyErr_SetString(PyExc_RuntimeError, "cannot reuse already awaited coil.run()");
    run->state = CLOSED;
    return PYGEN_ERROR;
}

/*
 * Set the current exception from the arguments of throw(value) or throw(type, value,
 * traceback).
 */
static int set_thrown(PyObject *type, PyObject *value, PyObject *traceback)
{
    if (traceback == Py_None)
        traceback = NULL;
    if (traceback != NULL && !PyTraceBack_Check(traceback)) {
        PyErr_SetString(PyExc_TypeError,
                        "throw() third argument must be a traceback object");
        return -1;
    }
    if (PyExceptionInstance_Check(type)) {
        if (value != NULL && value != Py_None) {
            PyErr_SetString(PyExc_TypeError,
                            "instance exception may not have a separate value");
            return -1;
        }
        if (traceback == NULL)
            traceback = PyException_GetTraceback(type);
        else
            Py_INCREF(traceback);
        PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(type)), Py_NewRef(type), traceback);
        return 0;
    }
    if (!PyExceptionClass_Check(type)) {
        PyErr_Format(
            PyExc_TypeError,
            "exceptions must be classes or instances deriving from BaseException, "
            "not %s",
            Py_TYPE(type)->tp_name);
        return -1;
    }
    Py_INCREF(type);
    Py_XINCREF(value);
    Py_XINCREF(traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyErr_Restore(type, value, traceback);
    return 0;
}

static PyObject *run_throw(struct run *run, PyObject *args)
{
    PyObject *type, *value = NULL, *traceback = NULL, *result;
    PySendResult state;

    if (!PyArg_UnpackTuple(args, "throw", 1, 3, &type, &value, &traceback) ||
        set_thrown(type, value, traceback) < 0)
        return NULL;
    state = throw_exception(run, &result);
    return step_result(state, result);
}

static int close_run(struct run *run)
{
    PyObject *result;
    PySendResult state;

    if (run->state == CLOSED)
        return 0;
    if (check_is_free(run) < 0)
        return -1;
    if (run->state == CREATED) {
        run->state = CLOSED;
        return 0;
    }
    PyErr_SetNone(PyExc_GeneratorExit);
    state = resume(run, NULL, &result);
    Py_XDECREF(result);
    if (state == PYGEN_NEXT) {
        PyErr_SetString(PyExc_RuntimeError, "coil.run() ignored GeneratorExit");
        return -1;
    }
    if (state == PYGEN_RETURN)
        return 0;
    if (!PyErr_ExceptionMatches(PyExc_GeneratorExit) &&
        !PyErr_ExceptionMatches(PyExc_StopIteration))
        return -1;
    PyErr_Clear();
    return 0;
}

static PyObject *run_close(struct run *run, PyObject *unused)
{
    (void)unused;
    if (close_run(run) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static void close_or_report(struct run *run)
{
    if (close_run(run) < 0)
        PyErr_WriteUnraisable((PyObject *)run);
}

/* Close the runs of this thread that were collected on other threads. */
static void close_abandoned(struct home *home)
{
    while (home->abandoned != NULL) {
        struct run *run = home->abandoned;

        home->abandoned = run->next_abandoned;
        close_or_report(run);
        Py_DECREF(run);
    }
}

void coil_python_close_all(void)
{
    while (thread_home != NULL && thread_home->begun != NULL) {
        struct run *run = (struct run *)Py_NewRef(thread_home->begun);

        unlink_run(run);
        close_or_report(run);
        Py_DECREF(run);
    }
}

static void finalize_suspended(struct run *run)
{
    if (run->home == thread_home) {
        close_or_report(run);
    } else if (!run->home->is_gone) {
        run->next_abandoned = run->home->abandoned;
        run->home->abandoned = run;
    } else {
        PyErr_SetString(PyExc_RuntimeError,
                        "coil.run() is suspended for ever: its thread has ended");
        PyErr_WriteUnraisable((PyObject *)run);
    }
    /*
     * A stack that cannot be unwound is leaked, and so are the objects to which its
     * functions refer.
     */
    if (run->state == SUSPENDED)
        Py_INCREF(run);
}

static void run_finalize(struct run *run)
{
    PyObject *type, *value, *traceback;

    if (run->state == CLOSED)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    if (run->state == SUSPENDED)
        finalize_suspended(run);
    else if (run->state == CREATED &&
             PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "coil.run(%S) was never awaited",
                              run->function) < 0)
        PyErr_WriteUnraisable((PyObject *)run);
    PyErr_Restore(type, value, traceback);
}

static int run_traverse(struct run *run, visitproc visit, void *arg)
{
    Py_VISIT(run->function);
    Py_VISIT(run->args);
    Py_VISIT(run->kwargs);
    return 0;
}

static void run_dealloc(struct run *run)
{
    PyObject_GC_UnTrack(run);
    if (run->weak_references != NULL)
        PyObject_ClearWeakRefs((PyObject *)run);
    PyObject_GC_Track(run);
    if (PyObject_CallFinalizerFromDealloc((PyObject *)run) < 0)
        return;
    PyObject_GC_UnTrack(run);
    Py_XDECREF(run->function);
    Py_XDECREF(run->args);
    Py_XDECREF(run->kwargs);
    PyObject_GC_Del(run);
}

static PyObject *run_repr(struct run *run)
{
    static const char *const names[] = {"created", "running", "suspended", "closed"};

    if (run->function == NULL)
        return PyUnicode_FromFormat("<coil.run() closed at %p>", run);
    return PyUnicode_FromFormat("<coil.run(%R) %s at %p>", run->function,
                                names[run->state], run);
}

/* Return the name of the function, which asyncio shows in the description of a task. */
static PyObject *run_name(struct run *run, void *unused)
{
    PyObject *name = NULL;

    (void)unused;
    if (run->function != NULL) {
        name = PyObject_GetAttrString(run->function, "__qualname__");
        if (name == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_Clear();
            name = PyObject_Repr(run->function);
        }
        return name;
    }
    return PyUnicode_FromString("coil.run");
}

static PyObject *run_is_running(struct run *run, void *unused)
{
    (void)unused;
    return PyBool_FromLong(run->state == RUNNING);
}

static PyObject *run_is_suspended(struct run *run, void *unused)
{
    (void)unused;
    return PyBool_FromLong(run->state == SUSPENDED);
}

static PyObject *run_await(struct run *run)
{
    return Py_NewRef(run);
}

static PyMethodDef run_methods[] = {
    {"send", (PyCFunction)run_send_method, METH_O,
     "Resume the function: `value` is the result of what it awaits."},
    {"throw", (PyCFunction)run_throw, METH_VARARGS,
     "Resume the function: what it awaits raises this exception."},
    {"close", (PyCFunction)run_close, METH_NOARGS,
     "Raise GeneratorExit in a suspended function."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef run_getters[] = {
    {"__name__", (getter)run_name, NULL, NULL, NULL},
    {"__qualname__", (getter)run_name, NULL, NULL, NULL},
    {"cr_running", (getter)run_is_running, NULL, NULL, NULL},
    {"cr_suspended", (getter)run_is_suspended, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyAsyncMethods run_async = {
    .am_await = (unaryfunc)run_await,
    .am_send = (sendfunc)run_send,
};

PyTypeObject coil_python_run_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "coil.Run",
    .tp_doc = "What coil.run() returns: await it, or make a task of it.",
    .tp_basicsize = sizeof(struct run),
    .tp_flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)run_dealloc,
    .tp_finalize = (destructor)run_finalize,
    .tp_traverse = (traverseproc)run_traverse,
    .tp_repr = (reprfunc)run_repr,
    .tp_weaklistoffset = offsetof(struct run, weak_references),
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)run_iternext,
    .tp_as_async = &run_async,
    .tp_methods = run_methods,
    .tp_getset = run_getters,
};

static PyObject *keyword_dict(PyObject *const *values, PyObject *names)
{
    PyObject *dict = PyDict_New();

    for (Py_ssize_t i = 0; dict != NULL && i < PyTuple_GET_SIZE(names); i++)
        if (PyDict_SetItem(dict, PyTuple_GET_ITEM(names, i), values[i]) < 0)
            Py_CLEAR(dict);
    return dict;
}

PyObject *coil_python_run(PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *tuple, *kwargs = NULL;
    struct run *run;

    if (count < 1 || !PyCallable_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError,
                        "coil.run() needs a callable as its first argument");
        return NULL;
    }
    tuple = PyTuple_New(count - 1);
    if (tuple == NULL)
        return NULL;
    for (Py_ssize_t i = 1; i < count; i++)
        PyTuple_SET_ITEM(tuple, i - 1, Py_NewRef(args[i]));
    if (names != NULL && (kwargs = keyword_dict(args + count, names)) == NULL) {
        Py_DECREF(tuple);
        return NULL;
    }
    run = PyObject_GC_New(struct run, &coil_python_run_type);
    if (run == NULL) {
        Py_DECREF(tuple);
        Py_XDECREF(kwargs);
        return NULL;
    }
    run->state = CREATED;
    run->stack = NULL;
    run->home = NULL;
    run->next = NULL;
    run->link = NULL;
    run->next_abandoned = NULL;
    run->function = Py_NewRef(args[0]);
    run->args = tuple;
    run->kwargs = kwargs;
    run->weak_references = NULL;
    PyObject_GC_Track(run);
    return (PyObject *)run;
}
