/*
 * coil/sync.h - the list of waiting tasks in each synchronisation object.
 *
 * Locks, events, queues and similar objects are allocated by the caller and have a fixed
 * size. Such an object is not thread-safe: only tasks of one thread may use it. Between
 * threads, use coil_post() or coil/channel.h. The node that links a waiting task into the
 * list is on the task's own stack, so waiting and waking never allocate memory and never
 * fail. Tasks are served in the order of their calls, except where a header says
 * otherwise.
 *
 * An object belongs to the loop of the first task that waits for it, until that loop is
 * closed. If coil detects a call on another thread, the program aborts
 * (docs/manual/debug.md).
 *
 * Until a task has waited for an object, it is plain memory. So one thread may fill a
 * queue or set an event and pass it to another thread, if synchronisation such as
 * pthread_create(3) orders these accesses. Debug mode is stricter: the initialisation, or
 * the first call on a loop's thread, binds the object to that loop.
 */
#ifndef COIL_SYNC_H
#define COIL_SYNC_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Waiting tasks, oldest first. A zeroed list is empty; all members are private to coil.
 */
typedef struct coil_waiters {
    void *first, *last;
    /*
     * The first waiter that may still be asleep; all waiters before it have been woken.
     */
    void *asleep;
    uint32_t loop; /* number of the last waiter's loop; 0 before any wait */
} coil_waiters;

/* clang-format off */
#define COIL_WAITERS_INIT {NULL, NULL, NULL, 0}
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
