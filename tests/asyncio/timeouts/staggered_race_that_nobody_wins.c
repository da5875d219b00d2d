/* Where all fail nobody wins, one after the other. */
#include "races.h"

SCENARIO(staggered_race_that_nobody_wins)
{
    static struct way ways[] = {{0, 1, -EIO}, {1, 1, -EPROTO}};
    coil_work works[2];
    int rc;

    for (int i = 0; i < 2; i++)
        works[i] = (coil_work){work, &ways[i]};
    rc = race(works, 2, COIL_NEVER);
    if (rc == -ENOMEM)
        return rc;
    trace("over");
    tell("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}
