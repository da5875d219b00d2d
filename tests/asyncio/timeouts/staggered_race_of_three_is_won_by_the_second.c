/* Works begin so long after each other; the second to succeed came too late. */
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

SCENARIO(staggered_race_of_three_is_won_by_the_second)
{
    static struct way ways[] = {{0, 6, 10}, {1, 3, 11}, {2, 2, 12}};
    coil_work works[3];
    int rc;

    for (int i = 0; i < 3; i++)
        works[i] = (coil_work){work, &ways[i]};
    rc = race(works, 3, COIL_SEC(2));
    if (rc == -ENOMEM)
        return rc;
    trace("over");
    tell("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}
