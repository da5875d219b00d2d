/* Works begin so long after each other; the second to succeed came too late. */
#include "races.h"

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
