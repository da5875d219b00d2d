/*
 * Only this file includes internal headers of CPython, because a frame's link to the
 * frame below it is not public.
 */
#define Py_BUILD_CORE_MODULE 1
#include "state.h"

#include <internal/pycore_frame.h>

/*
 * Assumed number of bytes that one level of C recursion takes on the C stack. On the main
 * thread, CPython 3.13 assumes 8 MiB for 10,000 levels.
 */
#define BYTES_PER_C_LEVEL 800

#if PY_VERSION_HEX >= 0x030d0000
#define C_LEVELS Py_C_RECURSION_LIMIT
#elif PY_VERSION_HEX >= 0x030c0000
#define C_LEVELS C_RECURSION_LIMIT
#endif

#if PY_VERSION_HEX >= 0x030c0000
#define RECURSION_LIMIT(thread) ((thread)->py_recursion_limit)
#define RECURSION_REMAINING(thread) ((thread)->py_recursion_remaining)
#define TRACING_WHAT(thread) ((thread)->what_event)
#else
#define RECURSION_LIMIT(thread) ((thread)->recursion_limit)
#define RECURSION_REMAINING(thread) ((thread)->recursion_remaining)
#define TRACING_WHAT(thread) ((thread)->tracing_what)
#endif

#if PY_VERSION_HEX < 0x030c0000
#define DELETE_NESTING(thread) ((thread)->trash_delete_nesting)
#elif PY_VERSION_HEX < 0x030d0000
#define DELETE_NESTING(thread) ((thread)->trash.delete_nesting)
#endif

void coil_python_state_init(struct stack_state *state, size_t stack_bytes)
{
    *state = (struct stack_state){.own = {.exc_info = &state->bottom_exception}};
#if PY_VERSION_HEX < 0x030d0000
    state->own.cframe = &state->bottom_cframe;
#endif
#if PY_VERSION_HEX >= 0x030c0000
    state->own.c_recursion_remaining = (int)(stack_bytes / BYTES_PER_C_LEVEL);
    if (state->own.c_recursion_remaining > C_LEVELS)
        state->own.c_recursion_remaining = C_LEVELS;
    state->own.tracing_what = -1;
#else
    (void)stack_bytes;
#endif
}

/*
 * Free all chunks of frames. CPython itself frees all chunks of a thread except the first,
 * because a running thread always needs one.
 */
void coil_python_state_finish(struct stack_state *state)
{
    PyObjectArenaAllocator memory;
    _PyStackChunk *chunk = state->own.datastack_chunk;

    PyObject_GetArenaAllocator(&memory);
    while (chunk != NULL) {
        _PyStackChunk *previous = chunk->previous;

        memory.free(memory.ctx, chunk, chunk->size);
        chunk = previous;
    }
    state->own.datastack_chunk = NULL;
}

static int recursion_depth(const PyThreadState *thread)
{
    return RECURSION_LIMIT(thread) - RECURSION_REMAINING(thread);
}

static struct _PyInterpreterFrame *current_frame(const PyThreadState *thread)
{
#if PY_VERSION_HEX < 0x030d0000
    return thread->cframe->current_frame;
#else
    return thread->current_frame;
#endif
}

/* Save the fields that are saved in the same way on entry and on exit. */
static void save_fields(const PyThreadState *thread, struct python_state *saved)
{
#if PY_VERSION_HEX < 0x030d0000
    saved->cframe = thread->cframe;
    saved->delete_nesting = DELETE_NESTING(thread);
#else
    saved->current_frame = thread->current_frame;
#endif
    saved->datastack_chunk = thread->datastack_chunk;
    saved->datastack_top = thread->datastack_top;
    saved->datastack_limit = thread->datastack_limit;
    saved->exc_info = thread->exc_info;
#if PY_VERSION_HEX >= 0x030c0000
    saved->c_recursion_remaining = thread->c_recursion_remaining;
#endif
    saved->tracing = thread->tracing;
    saved->tracing_what = TRACING_WHAT(thread);
}

static void load_fields(PyThreadState *thread, const struct python_state *saved)
{
#if PY_VERSION_HEX < 0x030d0000
    thread->cframe = saved->cframe;
    DELETE_NESTING(thread) = saved->delete_nesting;
#else
    thread->current_frame = saved->current_frame;
#endif
    thread->datastack_chunk = saved->datastack_chunk;
    thread->datastack_top = saved->datastack_top;
    thread->datastack_limit = saved->datastack_limit;
    thread->exc_info = saved->exc_info;
#if PY_VERSION_HEX >= 0x030c0000
    thread->c_recursion_remaining = saved->c_recursion_remaining;
#endif
    thread->tracing = saved->tracing;
    TRACING_WHAT(thread) = saved->tracing_what;
#if PY_VERSION_HEX < 0x030c0000
    /*
     * Do the same as _PyThreadState_UpdateTracingState(), because another stack may have
     * called sys.settrace().
     */
    thread->cframe->use_tracing = thread->tracing == 0 && (thread->c_tracefunc != NULL ||
                                                           thread->c_profilefunc != NULL)
                                      ? 255
                                      : 0;
#endif
}

/* Set the thread's current context. Consumes the reference to `context`. */
static void set_context(PyThreadState *thread, PyObject *context)
{
    thread->context = context;
    thread->context_ver++;
}

void coil_python_state_enter(PyThreadState *thread, struct stack_state *state)
{
    struct python_state *own = &state->own, *resumer = &state->resumer;

    /*
     * Make sure that the thread has a context. CPython creates a thread's first context
     * when it is needed. If that happened on the stack, the thread would lose the context
     * when the stack is left.
     */
    if (thread->context == NULL)
        Py_XDECREF(PyContext_CopyCurrent());
    state->outer_frame = current_frame(thread);
    resumer->depth = recursion_depth(thread);
    resumer->context = Py_XNewRef(thread->context);
    save_fields(thread, resumer);

    if (state->bottom_frame != NULL)
        state->bottom_frame->previous = state->outer_frame;
#if PY_VERSION_HEX < 0x030d0000
    state->bottom_cframe.current_frame = state->outer_frame;
#else
    if (state->bottom_frame == NULL)
        own->current_frame = state->outer_frame;
#endif
    state->bottom_exception.previous_item = thread->exc_info;
    RECURSION_REMAINING(thread) -= own->depth;
    load_fields(thread, own);
    if (own->context != NULL) {
        PyObject *replaced = thread->context;

        set_context(thread, own->context);
        own->context = NULL;
        Py_XDECREF(replaced);
    }
}

/*
 * Unlink the stack's frames from the resumer's frames. Returns the outermost frame of the
 * stack, or NULL if the stack has no frames.
 */
static struct _PyInterpreterFrame *unlink_bottom(struct _PyInterpreterFrame *frame,
                                                 struct _PyInterpreterFrame *outer)
{
    if (frame == outer)
        return NULL;
    while (frame->previous != outer && frame->previous != NULL)
        frame = frame->previous;
    frame->previous = NULL;
    return frame;
}

void coil_python_state_leave(PyThreadState *thread, struct stack_state *state)
{
    struct python_state *own = &state->own, *resumer = &state->resumer;

    state->bottom_frame = unlink_bottom(current_frame(thread), state->outer_frame);
    state->outer_frame = NULL;
    own->depth = recursion_depth(thread) - resumer->depth;
    RECURSION_REMAINING(thread) = RECURSION_LIMIT(thread) - resumer->depth;
    save_fields(thread, own);
    load_fields(thread, resumer);
    state->bottom_exception.previous_item = NULL;
    /*
     * If the code on the stack is inside Context.run(), the context belongs to the stack.
     */
    if (thread->context != resumer->context) {
        own->context = thread->context;
        set_context(thread, resumer->context);
    } else {
        Py_XDECREF(resumer->context);
    }
    resumer->context = NULL;
}
