/* A failure begins the next at once, however long the delay. */
#include "races.h"

SCENARIO(staggered_race_goes_on_after_a_failure)
{
    static struct way ways[] = {{0, 1, -EIO}, {1, 2, 11}, {2, 3, 12}};
    coil_work works[3];
    int rc;

    for (int i = 0; i < 3; i++)
        works[i] = (coil_work){work, &ways[i]};
    rc = race(works, 3, COIL_SEC(60));
    if (rc == -ENOMEM)
        return rc;
    trace("over");
    tell("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}
