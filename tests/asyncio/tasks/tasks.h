/* tasks.h - what many scenarios of tasks have as their children. */
#ifndef TESTS_ASYNCIO_TASKS_H
#define TESTS_ASYNCIO_TASKS_H

#include "../scenario.h"

#define SECONDS(n) ((void *)(intptr_t)(n))

/* Sleeps so many SECONDS(n). */
static inline int sleeper(void *seconds)
{
    return coil_sleep(COIL_SEC((intptr_t)seconds));
}

/* Sleeps so many SECONDS(n), if any, and fails. */
static inline int failer(void *seconds)
{
    int rc = seconds != NULL ? sleeper(seconds) : 0;

    return rc < 0 ? rc : -EIO;
}

/* Awaits the future, and returns what came of it. */
static inline int awaiter(void *future)
{
    return coil_await(future);
}

#endif
