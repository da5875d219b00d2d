/*
 * coil/sync.h - the list of waiting tasks, which all synchronisation objects contain.
 *
 * Locks, events and queues are the caller's memory and have a fixed size. Only tasks of
 * one thread may use such an object, which is not thread-safe. Between threads use
 * coil_post() or coil/channel.h. A node on the waiting task's own stack links it into the
 * list, so waiting and waking never allocate and never fail. Tasks are served in the
 * order in which they called, except where a header says otherwise.
 *
 * An object belongs to the loop of the first task that waits for it, until that loop is
 * closed. If coil detects a call on another thread, the program aborts
 * (docs/manual/debug.md).
 *
 * Before a task has waited, an object is plain memory. So one thread may fill a queue or
 * set an event and pass it to another thread. This needs synchronisation that orders the
 * two, such as pthread_create(3). Debug mode is stricter. In debug mode the
 * initialisation, or the first call on a loop's thread, binds the object to that loop.
 */
#ifndef COIL_SYNC_H
#define COIL_SYNC_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Waiting tasks, oldest first. Zeroes are an empty list; the fields are coil's own. */
typedef struct coil_waiters {
    void *first, *last;
    /*
     * First task that may not have been woken yet; all tasks before it have been woken.
     */
    void *asleep;
    uint32_t loop; /* the number of the last waiter's loop; 0 before any wait */
} coil_waiters;

/* clang-format off */
#define COIL_WAITERS_INIT {NULL, NULL, NULL, 0}
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
