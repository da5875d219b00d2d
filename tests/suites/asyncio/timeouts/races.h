/*
 * races.h - functions shared by scenarios about staggered races.
 */
#ifndef TESTS_ASYNCIO_RACES_H
#define TESTS_ASYNCIO_RACES_H

#include "../scenario.h"

/* A participant of a race, which sleeps, prints the outcome, and returns `rc`. */
struct way {
    int index, seconds, rc;
};

static inline int work(void *arg)
{
    const struct way *way = arg;
    char name[] = {(char)('0' + way->index), '\0'};
    int rc;

    trace("%d begins", way->index);
    rc = trace_outcome(name, coil_sleep(COIL_SEC(way->seconds)));
    return rc < 0 ? rc : way->rc;
}

/*
 * Run a race of at most three functions. Print the winner, and the errors of functions
 * that have failed.
 */
static inline int race(const coil_work works[], size_t n, int64_t delay)
{
    int rcs[3];
    size_t winner;
    int rc = coil_staggered_race(works, n, delay, &winner, rcs);

    if (winner == n)
        trace("nobody won");
    else
        trace("winner %zu: %s", winner, outcome(rc));
    for (size_t i = 0; i < n; i++)
        if (rcs[i] < 0 && rcs[i] != -EINPROGRESS)
            trace("%zu: %s", i, outcome(rcs[i]));
    return rc;
}

#endif
