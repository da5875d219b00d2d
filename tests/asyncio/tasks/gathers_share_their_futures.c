/* Two tasks gather the same futures, one in the other order: both get all the results. */
#include "../scenario.h"

static coil_future *there[3], *back[3];

static int body(void *futures)
{
    int rcs[3], rc = coil_gather(futures, 3, 0, rcs);

    if (rc == 0)
        trace("%s: %d %d %d", futures == there ? "there" : "back", rcs[0], rcs[1],
              rcs[2]);
    return rc;
}

SCENARIO(gathers_share_their_futures)
{
    static const int order[] = {1, 2, 0};
    coil_task *tasks[2];

    for (int i = 0; i < 3; i++)
        there[i] = back[2 - i] = new_future();
    tasks[0] = start(body, there);
    tasks[1] = start(body, back);
    if (tasks[1] == NULL)
        return -ENOMEM;
    turns(1);
    for (int i = 0; i < 3; i++) {
        coil_future_set(there[order[i]], 10 + order[i], NULL, NULL);
        coil_sleep(COIL_SEC(1));
        trace("%d is set: %s %s", order[i], state(coil_task_future(tasks[0])),
              state(coil_task_future(tasks[1])));
    }
    return 0;
}
