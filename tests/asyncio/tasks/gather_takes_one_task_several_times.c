/* A task that is given to gather more than once runs once, and has its result in each
 * place. */
#include "../scenario.h"

static int body(void *arg)
{
    int value = (int)(intptr_t)arg, rc;

    trace("runs for %d", value);
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : value;
}

SCENARIO(gather_takes_one_task_several_times)
{
    coil_task *a = start(body, (void *)(intptr_t)1),
              *b = start(body, (void *)(intptr_t)2);
    int rcs[4], rc;

    if (b == NULL)
        return -ENOMEM;
    coil_future *futures[] = {coil_task_future(a), coil_task_future(a),
                              coil_task_future(b), coil_task_future(a)};
    rc = coil_gather(futures, 4, 0, rcs);
    if (rc < 0)
        return rc;
    trace("gathered %d %d %d %d", rcs[0], rcs[1], rcs[2], rcs[3]);
    return 0;
}
