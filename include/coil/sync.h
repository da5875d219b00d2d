/*
 * coil/sync.h - what the synchronisation headers share: a list of waiting tasks.
 *
 * Locks, events and queues are the caller's memory and of fixed size. They serve tasks
 * of one thread; they know nothing of other threads (coil_post() does). Waiting puts a
 * node on the waiter's own stack into such a list, so waiting and waking never allocate
 * and never fail. First come, first served, except where a header says otherwise.
 */
#ifndef COIL_SYNC_H
#define COIL_SYNC_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tasks that wait, oldest first. Zeroes are an empty list; the fields are coil's own. */
typedef struct coil_waiters {
    void *first, *last;
    void *asleep; /* the first that may not have been woken yet; none before it is */
} coil_waiters;

/* clang-format off */
#define COIL_WAITERS_INIT {NULL, NULL, NULL}
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
