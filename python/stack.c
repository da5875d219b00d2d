#include "stack.h"

#include <coil/coro.h>

#include <stdlib.h>

#define DEFAULT_BYTES ((Py_ssize_t)4 << 20)
#define LEAST_BYTES ((Py_ssize_t)256 << 10)
#define MOST_BYTES ((Py_ssize_t)1 << 30)

/* maximum number of unused stacks in a pool */
#define MOST_IDLE 64

struct stack {
    coil_coro *coro;
    struct stack_state state;
    stack_job job; /* NULL makes the coroutine end when it is next resumed */
    void *arg;
    bool is_done;
    struct stack *resumer; /* stack that resumed this stack, or NULL */
    struct stack *next;    /* next stack in the pool */
    Py_ssize_t bytes;
};

/* One per thread. */
struct pool {
    struct stack *running;
    struct stack *idle;
    int idle_count;
    bool is_watched; /* watch_thread() has succeeded */
};

static __thread struct pool pool;
static Py_ssize_t bytes_of_new = DEFAULT_BYTES;

static void *serve_jobs(void *arg)
{
    struct stack *stack = arg;

    while (stack->job != NULL) {
        PyObject *result = stack->job(stack->arg);

        stack->is_done = true;
        coil_coro_suspend(result);
    }
    return NULL;
}

static void destroy_stack(struct stack *stack)
{
    stack->job = NULL;
    coil_coro_resume(stack->coro, NULL);
    coil_coro_destroy(stack->coro);
    coil_python_state_finish(&stack->state);
    free(stack);
}

static void end_pool(PyObject *capsule)
{
    /*
     * Do nothing on another thread. When the interpreter exits, the main thread clears
     * the states of other threads. The main thread cannot resume their stacks, so these
     * stacks are leaked.
     */
    if (PyCapsule_GetPointer(capsule, NULL) != &pool)
        return;
    while (pool.idle != NULL) {
        struct stack *stack = pool.idle;

        pool.idle = stack->next;
        destroy_stack(stack);
    }
    pool.idle_count = 0;
    pool.is_watched = false;
}

/* Make CPython call end_pool() when it clears the state of this thread. */
static int watch_thread(void)
{
    PyObject *dict = PyThreadState_GetDict();
    PyObject *capsule;
    int rc;

    if (dict == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    capsule = PyCapsule_New(&pool, NULL, end_pool);
    if (capsule == NULL)
        return -1;
    rc = PyDict_SetItemString(dict, "coil.stacks", capsule);
    pool.is_watched = rc == 0;
    Py_DECREF(capsule);
    return rc;
}

static struct stack *create_stack(void)
{
    coil_coro_opts opts = {.stack_bytes = (size_t)bytes_of_new};
    struct stack *stack;

    if (!pool.is_watched && watch_thread() < 0)
        return NULL;
    stack = calloc(1, sizeof *stack);
    if (stack == NULL || coil_coro_create(serve_jobs, stack, &opts, &stack->coro) < 0) {
        free(stack);
        PyErr_NoMemory();
        return NULL;
    }
    stack->bytes = bytes_of_new;
    coil_python_state_init(&stack->state, (size_t)bytes_of_new);
    return stack;
}

static struct stack *take_idle(void)
{
    while (pool.idle != NULL) {
        struct stack *stack = pool.idle;

        pool.idle = stack->next;
        pool.idle_count--;
        if (stack->bytes == bytes_of_new)
            return stack;
        destroy_stack(stack);
    }
    return NULL;
}

struct stack *stack_acquire(stack_job job, void *arg)
{
    struct stack *stack = take_idle();

    if (stack == NULL)
        stack = create_stack();
    if (stack == NULL)
        return NULL;
    stack->job = job;
    stack->arg = arg;
    stack->is_done = false;
    return stack;
}

PyObject *stack_resume(struct stack *stack, PyObject *value)
{
    PyThreadState *thread = PyThreadState_Get();

    stack->resumer = pool.running;
    pool.running = stack;
    coil_python_state_enter(thread, &stack->state);
    value = coil_coro_resume(stack->coro, value);
    coil_python_state_leave(thread, &stack->state);
    pool.running = stack->resumer;
    return value;
}

bool stack_is_done(const struct stack *stack)
{
    return stack->is_done;
}

void stack_release(struct stack *stack)
{
    if (pool.idle_count >= MOST_IDLE || !pool.is_watched) {
        destroy_stack(stack);
        return;
    }
    stack->next = pool.idle;
    pool.idle = stack;
    pool.idle_count++;
}

PyObject *stack_suspend(PyObject *value)
{
    return coil_coro_suspend(value);
}

bool stack_is_running(void)
{
    return pool.running != NULL;
}

Py_ssize_t stack_bytes(void)
{
    return bytes_of_new;
}

int stack_set_bytes(Py_ssize_t bytes)
{
    if (bytes == 0)
        bytes = DEFAULT_BYTES;
    if (bytes < LEAST_BYTES || bytes > MOST_BYTES) {
        PyErr_Format(PyExc_ValueError, "a stack has from %zd to %zd bytes, not %zd",
                     LEAST_BYTES, MOST_BYTES, bytes);
        return -1;
    }
    while (LEAST_BYTES < bytes && (bytes & (bytes - 1)) != 0)
        bytes += bytes & -bytes;
    bytes_of_new = bytes;
    return 0;
}
