/* With a delay of 0 all begin, some turns after each other. */
#include "races.h"

SCENARIO(staggered_race_without_delay_begins_all)
{
    static struct way ways[] = {{0, 3, -EIO}, {1, 2, 11}, {2, 1, -EPROTO}};
    coil_work works[3];
    int rc;

    start(ticker, TURNS(12));
    for (int i = 0; i < 3; i++)
        works[i] = (coil_work){work, &ways[i]};
    rc = race(works, 3, COIL_SEC(0));
    if (rc == -ENOMEM)
        return rc;
    trace("over");
    tell("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}
