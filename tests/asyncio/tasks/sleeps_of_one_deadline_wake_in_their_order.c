/* Sleepers wake by their deadlines, and those of the same deadline first come, first
 * served. */
#include "../scenario.h"

struct nap {
    char name;
    int seconds;
};

static int body(void *arg)
{
    const struct nap *nap = arg;
    int rc = coil_sleep(COIL_SEC(nap->seconds));

    trace("%c after %d", nap->name, nap->seconds);
    return rc;
}

SCENARIO(sleeps_of_one_deadline_wake_in_their_order)
{
    static struct nap naps[] = {{'a', 2}, {'b', 1}, {'c', 2},
                                {'d', 0}, {'e', 1}, {'f', -1}};
    coil_future *futures[6];

    for (int i = 0; i < 6; i++) {
        coil_task *task = start(body, &naps[i]);

        if (task == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(task);
    }
    coil_wait(futures, 6, COIL_WAIT_ALL, COIL_NEVER);
    return 0;
}
