/*
 * budget.h (internal) - limits the I/O that one task does before other tasks run.
 */
#ifndef COIL_TASK_BUDGET_H
#define COIL_TASK_BUDGET_H

#include <stddef.h>

#define COIL__BUDGET 64

/* One task may transfer 256 KiB before others run: as much as one read of asyncio. */
#define COIL__BYTES_PER_BUDGET (256u << 10)

/*
 * Called before each I/O operation that may succeed at once. Yields if the running task
 * has spent COIL__BUDGET since others last ran. Returns 0 or -ECANCELED. Without a
 * running task the function aborts with a message that names `caller`.
 */
int coil__task_spend(const char *caller);

/*
 * Called when an operation has transferred n bytes at once: count it as several small
 * operations.
 */
void coil__task_spend_bytes(size_t n);

#endif
