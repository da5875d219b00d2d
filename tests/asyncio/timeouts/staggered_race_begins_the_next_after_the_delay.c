/*
 * A work that takes longer than the delay is joined by the next, and cancelled when
 * that wins.
 */
#include "timeouts.h"

struct way {
    int index, seconds, rc;
};

static int work(void *arg)
{
    const struct way *way = arg;
    char name[] = {(char)('0' + way->index), '\0'};
    int rc;

    trace("%d begins", way->index);
    rc = tell(name, coil_sleep(COIL_SEC(way->seconds)));
    return rc < 0 ? rc : way->rc;
}

static int race(const coil_work works[], size_t n, int64_t delay)
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

SCENARIO(staggered_race_begins_the_next_after_the_delay)
{
    static struct way ways[] = {{0, 10, 10}, {1, 1, 11}};
    coil_work works[2];
    int rc;

    for (int i = 0; i < 2; i++)
        works[i] = (coil_work){work, &ways[i]};
    rc = race(works, 2, COIL_SEC(2));
    if (rc == -ENOMEM)
        return rc;
    trace("over");
    tell("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}
