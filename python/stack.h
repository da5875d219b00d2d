/*
 * stack.h - C stacks on which Python code runs, each with CPython's state for it.
 *
 * A stack runs one job after another, and waits in its thread's pool between two: a new
 * one costs system calls and page faults. A stack belongs to the thread that created
 * it.
 */
#ifndef COIL_PYTHON_STACK_H
#define COIL_PYTHON_STACK_H

#include "state.h"

#include <stdbool.h>

struct stack;

/* Runs on the stack. The result is what the last stack_resume() returns. */
typedef PyObject *(*stack_job)(void *arg);

/*
 * Take a stack from this thread's pool, or create one, for `job`. Nothing of the job
 * runs until the first stack_resume(). Returns NULL with an exception set if there is
 * no memory.
 */
struct stack *stack_acquire(stack_job job, void *arg);

/*
 * Run the job until it suspends or ends. `value` is what its stack_suspend() returns;
 * NULL means that an exception is set, which the job finds set. Returns what the job
 * handed over: NULL with an exception set if the job failed.
 */
PyObject *stack_resume(struct stack *stack, PyObject *value);

/* True once the job has returned. stack_release() is due then. */
bool stack_is_done(const struct stack *stack);

/* Return a stack to its pool: one whose job has returned, or never began. */
void stack_release(struct stack *stack);

/* Suspend the job that runs: its stack_resume() returns `value`. Returns what the next
   stack_resume() passes: NULL means that an exception is set. */
PyObject *stack_suspend(PyObject *value);

/* True if a job runs on this thread, so that stack_suspend() may be called. */
bool stack_is_running(void);

/* Bytes of each stack that is created from now on, or -1 with an exception set. */
Py_ssize_t stack_bytes(void);
int stack_set_bytes(Py_ssize_t bytes);

#endif
