/*
 * budget.h (internal) - bounds the I/O of one task in a row, so that others get to run.
 */
#ifndef COIL_TASK_BUDGET_H
#define COIL_TASK_BUDGET_H

#include <stddef.h>

#define COIL__BUDGET 64

/* One task may move 256 KiB before others run; asyncio reads as much of one socket. */
#define COIL__BYTES_PER_BUDGET (256u << 10)

/*
 * Called before each I/O operation that may succeed at once. Yields if the running task
 * has spent COIL__BUDGET since others last ran. Returns 0 or -ECANCELED. Without a task
 * it aborts with a message that names `caller`.
 */
int coil__task_spend(const char *caller);

/* An operation moved n bytes at once: they count as several small operations. */
void coil__task_spend_bytes(size_t n);

#endif
