/*
 * futures.h - functions shared by scenarios about futures.
 */
#ifndef TESTS_ASYNCIO_FUTURES_H
#define TESTS_ASYNCIO_FUTURES_H

#include "../scenario.h"

#define NUMBER(i) ((void *)(intptr_t)(i))

/* A done callback that prints its number. */
static inline void callback(coil_future *future, void *number)
{
    (void)future;
    trace("callback %d", (int)(intptr_t)number);
}

/*
 * Add the callback `fn` n times, with the arguments NUMBER(0), NUMBER(1) and so on.
 * Returns -ENOMEM if memory runs out, and then adds none.
 */
static inline int add_each(coil_future *future, coil_done_callback fn, int n)
{
    for (int i = 0; i < n; i++)
        if (coil_future_add_callback(future, fn, NUMBER(i)) < 0) {
            while (i-- > 0)
                coil_future_remove_callback(future, fn, NUMBER(i));
            return -ENOMEM;
        }
    return 0;
}

static inline int add_callbacks(coil_future *future, int n)
{
    return add_each(future, callback, n);
}

#endif
