/*
 * stack.h - C stacks on which Python code runs, each with its own part of CPython's
 * thread state.
 *
 * A stack runs one job after another. Between two jobs, the stack is in its thread's
 * pool, because creating a stack costs system calls and page faults. A stack belongs to
 * the thread that created it.
 */
#ifndef COIL_PYTHON_STACK_H
#define COIL_PYTHON_STACK_H

#include "state.h"

#include <stdbool.h>

struct stack;

/*
 * A function that runs on a stack. The last stack_resume() returns the function's result.
 */
typedef PyObject *(*stack_job)(void *arg);

/*
 * Get a stack for `job` from this thread's pool, or create one. The job begins at the
 * first stack_resume(). Returns NULL with an exception set if memory ran out.
 */
struct stack *stack_acquire(stack_job job, void *arg);

/*
 * Run the job until it suspends or ends. If the job is suspended, its stack_suspend()
 * returns `value`. If `value` is NULL, the caller must have set an exception, which is
 * raised in the job. Returns the value that the job passed to stack_suspend() or
 * returned, or NULL with an exception set if the job failed.
 */
PyObject *stack_resume(struct stack *stack, PyObject *value);

/* Return true if the job has returned. The caller must then call stack_release(). */
bool stack_is_done(const struct stack *stack);

/*
 * Return a stack to its pool. The stack's job must have returned, or must not have begun.
 */
void stack_release(struct stack *stack);

/*
 * Suspend the running job, and make stack_resume() return `value` to its caller. Returns
 * the value that the next stack_resume() passes; NULL means that an exception is set.
 */
PyObject *stack_suspend(PyObject *value);

/*
 * Return true if a job is running on this thread, so that stack_suspend() may be called.
 */
bool stack_is_running(void);

/* Return the size in bytes of new stacks, or -1 with an exception set. */
Py_ssize_t stack_bytes(void);
int stack_set_bytes(Py_ssize_t bytes);

#endif
