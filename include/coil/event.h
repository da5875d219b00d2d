/*
 * coil/event.h - a flag that tasks can wait for.
 *
 *     static coil_event ready = COIL_EVENT_INIT;
 *
 * Any number of tasks may wait for the event:
 *
 *     rc = coil_event_wait(&ready);
 *
 * Another task, or a callback, sets the event:
 *
 *     coil_event_set(&ready);
 *
 * An event is allocated by the caller, and belongs to the loop of the tasks that wait for
 * it. (asyncio: Event)
 */
#ifndef COIL_EVENT_H
#define COIL_EVENT_H

#include <coil/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_event {
    coil_waiters waiters;
    bool is_set;
} coil_event;

/* clang-format off */
#define COIL_EVENT_INIT {COIL_WAITERS_INIT, false}
/* clang-format on */

/* Initialise an event at run time, like COIL_EVENT_INIT. The event is not set. */
COIL_API void coil_event_init(coil_event *event);

/* Destroy the event; no task may still be waiting for it. NULL is accepted. */
COIL_API void coil_event_finish(coil_event *event);

/*
 * Wait until the event is set; return immediately if it is. Returns 0 or -ECANCELED.
 * (asyncio: wait)
 */
COIL_SUSPENDS int coil_event_wait(coil_event *event);

/*
 * Set the event: all waiting tasks continue in the next turn of the loop, even if the
 * event is cleared before that. Never allocates. (asyncio: set)
 */
COIL_API void coil_event_set(coil_event *event);

/*
 * Clear the event: later calls of coil_event_wait() wait until the event is set again.
 * (asyncio: clear)
 */
COIL_API void coil_event_clear(coil_event *event);

/* True if the event is set. (asyncio: is_set) */
COIL_API bool coil_event_is_set(const coil_event *event);

#ifdef __cplusplus
}
#endif

#endif
