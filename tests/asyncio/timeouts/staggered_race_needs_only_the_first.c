/* A first work that succeeds wins; the second never begins. */
#include "races.h"

SCENARIO(staggered_race_needs_only_the_first)
{
    static struct way ways[] = {{0, 0, 10}, {1, 0, 11}};
    coil_work works[2];
    int rc;

    start(ticker, TURNS(8));
    for (int i = 0; i < 2; i++)
        works[i] = (coil_work){work, &ways[i]};
    rc = race(works, 2, COIL_NEVER);
    if (rc == -ENOMEM)
        return rc;
    trace("over");
    tell("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}
