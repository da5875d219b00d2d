/*
 * state.h - the part of CPython's thread state that is separate for each stack.
 *
 * CPython assumes that a thread has only one C stack. PyThreadState describes this stack:
 * the current frame, the exceptions that are being handled, the recursion depth. A switch
 * to another C stack must exchange these fields. The table lists these fields in each
 * version of CPython. The numbers refer to the files of CPython below the table, which
 * state.c follows. Fields that belong to the thread are not exchanged: the error
 * indicator, `dict`, the hooks of asynchronous generators, and the trace functions.
 *
 * field                   3.11                  3.12                  3.13
 * frames (1)              cframe, use_tracing   cframe                current_frame
 * memory of frames (2)    datastack_chunk, datastack_top, datastack_limit
 * handled exceptions (3)  exc_info
 * context (4)             context, context_ver
 * Python depth (1)        recursion_remaining   py_recursion_remaining
 * C depth (1)             the same field        c_recursion_remaining
 * deallocation (5)        trash_delete_nesting  trash.delete_nesting
 * trace function (6)      tracing, tracing_what tracing, what_event
 *
 * The files are (1) Python/ceval.c, (2) Python/pystate.c, (3) Python/errors.c, (4)
 * Python/context.c, (5) Objects/object.c, (6) Python/legacy_tracing.c (3.11: ceval.c).
 *
 * CPython 3.13 counts nested deallocations in c_recursion_remaining. Its field
 * critical_section is always zero in builds with the GIL. Other builds of CPython are not
 * supported.
 *
 * Like a generator's frame, the outermost frame of a stack is linked to the frame of its
 * resumer only while the stack runs. Therefore sys.exc_info(), traceback.print_stack()
 * and the recursion limit include the resumer's frames, but a suspended stack has no
 * pointers into another stack.
 */
#ifndef COIL_PYTHON_STATE_H
#define COIL_PYTHON_STATE_H

#include <Python.h>

struct _PyInterpreterFrame;

/* The values of the fields above for a stack that is not running. */
struct python_state {
#if PY_VERSION_HEX < 0x030d0000
    _PyCFrame *cframe;
#else
    struct _PyInterpreterFrame *current_frame;
#endif
    _PyStackChunk *datastack_chunk;
    PyObject **datastack_top;
    PyObject **datastack_limit;
    _PyErr_StackItem *exc_info;
    PyObject *context; /* NULL means that the stack uses the resumer's context */
    int depth;         /* number of nested Python calls on this stack alone */
#if PY_VERSION_HEX >= 0x030c0000
    int c_recursion_remaining;
#endif
#if PY_VERSION_HEX < 0x030d0000
    int delete_nesting;
#endif
    int tracing;
    int tracing_what;
};

/*
 * The state of a stack, and the data to which the outermost frame of the stack is linked.
 */
struct stack_state {
    struct python_state own;
    struct python_state resumer; /* the resumer's fields, while the stack runs */
#if PY_VERSION_HEX < 0x030d0000
    _PyCFrame bottom_cframe;
#endif
    _PyErr_StackItem bottom_exception;
    struct _PyInterpreterFrame *bottom_frame; /* outermost frame of a suspended stack */
    /* the resumer's current frame, while the stack runs */
    struct _PyInterpreterFrame *outer_frame;
};

/* Initialise the state of a new stack that has `stack_bytes` bytes for C functions. */
void coil_python_state_init(struct stack_state *state, size_t stack_bytes);

/*
 * Free the memory that CPython allocated for frames on this stack. No code may be running
 * on the stack.
 */
void coil_python_state_finish(struct stack_state *state);

/*
 * Save the resumer's fields, and install the stack's fields. Called before the switch to
 * the stack.
 */
void coil_python_state_enter(PyThreadState *thread, struct stack_state *state);

/*
 * Save the stack's fields, and install the resumer's fields. Called after the switch
 * back.
 */
void coil_python_state_leave(PyThreadState *thread, struct stack_state *state);

#endif
