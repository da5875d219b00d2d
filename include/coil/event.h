/*
 * coil/event.h - a flag; tasks wait until it is set.
 *
 *     static coil_event ready = COIL_EVENT_INIT;
 *
 * Any number of tasks wait for it:
 *
 *     rc = coil_event_wait(&ready);
 *
 * Another task, or a callback, sets it:
 *
 *     coil_event_set(&ready);
 *
 * The caller's memory; bound to the loop of its waiters. (asyncio: Event)
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

/* One that is not set: what COIL_EVENT_INIT is, at run time. */
COIL_API void coil_event_init(coil_event *event);

/* Nothing may wait for it any more. NULL is accepted. */
COIL_API void coil_event_finish(coil_event *event);

/* Wait until it is set; not at all if it is. 0 or -ECANCELED. (asyncio: wait) */
COIL_SUSPENDS int coil_event_wait(coil_event *event);

/* Set it: all that wait go on in the next turn, even if it is cleared before. Never
 * allocates. */
COIL_API void coil_event_set(coil_event *event);

/* Take it back: who waits from now on waits for the next set. (asyncio: clear) */
COIL_API void coil_event_clear(coil_event *event);

/* True from a set to the next clear. (asyncio: is_set) */
COIL_API bool coil_event_is_set(const coil_event *event);

#ifdef __cplusplus
}
#endif

#endif
