/*
 * each.h - functions shared by scenarios about as_completed().
 */
#ifndef TESTS_ASYNCIO_EACH_H
#define TESTS_ASYNCIO_EACH_H

#include "../scenario.h"

/* What a task does: sleep, print the outcome, and return `result`. */
struct work {
    const char *name;
    int seconds, result;
};

static inline int work(void *arg)
{
    const struct work *w = arg;
    int rc = trace_outcome(w->name, coil_sleep(COIL_SEC(w->seconds)));

    return rc < 0 ? rc : w->result;
}

/* Start a task for each element of `works`. Returns false if memory runs out. */
static inline bool start_all(struct work *works, coil_future *futures[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        coil_task *task = start(work, &works[i]);

        if (task == NULL)
            return false;
        futures[i] = coil_task_future(task);
    }
    return true;
}

/* Return 'a' for the first of the futures, 'b' for the second, and so on. */
static inline char name_of(coil_future *const futures[], const coil_future *future)
{
    int i = 0;

    while (futures[i] != future)
        i++;
    return (char)('a' + i);
}

#endif
