/*
 * tasks.h - functions that tasks run in scenarios about tasks.
 */
#ifndef TESTS_ASYNCIO_TASKS_H
#define TESTS_ASYNCIO_TASKS_H

#include "../scenario.h"

#define SECONDS(n) ((void *)(intptr_t)(n))

/* Sleep SECONDS(n). */
static inline int sleeper(void *seconds)
{
    return coil_sleep(COIL_SEC((intptr_t)seconds));
}

/* Sleep SECONDS(n), if n is not 0, and fail with -EIO. */
static inline int failer(void *seconds)
{
    int rc = seconds != NULL ? sleeper(seconds) : 0;

    return rc < 0 ? rc : -EIO;
}

/* Await the future, and return its result. */
static inline int awaiter(void *future)
{
    return coil_await(future);
}

#endif
