/*
 * locks.h - functions for scenarios in which several tasks run the same function.
 */
#ifndef TESTS_ASYNCIO_LOCKS_H
#define TESTS_ASYNCIO_LOCKS_H

#include "../scenario.h"

/* The names of the tasks: "a", "b", "c", ... */
static char *const task_names[] = {"a", "b", "c", "d", "e"};

/* Run `body` in n tasks, as asyncio.gather(body("a"), body("b"), ...) does in Python. */
static inline int gather_each(coil_task_fn body, size_t n)
{
    coil_future *all[sizeof task_names / sizeof task_names[0]];

    for (size_t i = 0; i < n; i++) {
        coil_task *task = start(body, task_names[i]);

        if (task == NULL)
            return -ENOMEM;
        all[i] = coil_task_future(task);
    }
    return coil_gather(all, n, 0, NULL);
}

#endif
