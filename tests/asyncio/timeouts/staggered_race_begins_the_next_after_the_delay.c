/*
 * A work that takes longer than the delay is joined by the next, and cancelled when
 * that wins.
 */
#include "races.h"

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
