/*
 * coil/sync.h - the list of waiting tasks, which all synchronisation objects contain.
 *
 * Locks, events and queues are the caller's memory and of fixed size. They are for tasks
 * of one thread, and not thread-safe (between threads use coil_post() or coil/channel.h).
 * A waiting task is listed by a node on its own stack, so waiting and waking never
 * allocate and never fail. First come, first served, except where a header says
 * otherwise.
 *
 * An object belongs to the loop of the first task that waits for it, until that loop is
 * closed. A call on another thread then stops the program, where coil detects it
 * (docs/manual/debug.md). Before a task has waited an object is plain memory: one thread
 * may fill a queue or set an event and pass it to another, with any synchronisation that
 * orders the two, such as pthread_create(3). Debug mode is stricter: the initialisation,
 * or the first call, on the thread of a loop in debug mode binds the object to that loop.
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
    void *asleep;  /* the first that may not have been woken yet; none before it is */
    uint32_t loop; /* the number of the last waiter's loop; 0: none has waited yet */
} coil_waiters;

/* clang-format off */
#define COIL_WAITERS_INIT {NULL, NULL, NULL, 0}
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
