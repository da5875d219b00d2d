/*
 * budget.h (internal) - limits the I/O that one task does before other tasks run.
 */
#ifndef COIL_TASK_BUDGET_H
#define COIL_TASK_BUDGET_H

#include <stddef.h>

#define COIL__BUDGET 64

/* A task may transfer 256 KiB before other tasks run: the size of one read in asyncio. */
#define COIL__BYTES_PER_BUDGET (256u << 10)

/*
 * Called before each I/O operation that may succeed at once. Yields if the running task
 * has used up COIL__BUDGET since other tasks last ran. Returns 0 or -ECANCELED. If no
 * task runs, abort with a message that names `caller`.
 */
int coil__task_spend(const char *caller);

/*
 * Called after an operation that transferred n bytes at once. A large transfer counts as
 * several operations.
 */
void coil__task_spend_bytes(size_t n);

#endif
