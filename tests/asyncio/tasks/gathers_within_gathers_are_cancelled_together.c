/* Cancelling the outermost of three gathers reaches the futures at the bottom in that
 * call. */
#include "../scenario.h"

struct parts {
    const char *name;
    coil_future *futures[2];
};

static int gatherer(void *arg)
{
    struct parts *parts = arg;

    return tell(parts->name, coil_gather(parts->futures, 2, 0, NULL));
}

SCENARIO(gathers_within_gathers_are_cancelled_together)
{
    static struct parts parts[3] = {{.name = "left"}, {.name = "right"}, {.name = "top"}};
    coil_future *futures[4];
    coil_task *tasks[3], *ticks;

    for (int i = 0; i < 4; i++)
        parts[i / 2].futures[i % 2] = futures[i] = new_future();
    for (int i = 0; i < 3; i++) {
        tasks[i] = start(gatherer, &parts[i]);
        if (tasks[i] == NULL)
            return -ENOMEM;
        if (i < 2)
            parts[2].futures[i] = coil_task_future(tasks[i]);
    }
    ticks = start(ticker, TURNS(6));
    if (ticks == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_task_cancel(tasks[2], NULL));
    trace("futures: %s %s %s %s", state(futures[0]), state(futures[1]), state(futures[2]),
          state(futures[3]));
    trace("top: %s", outcome(coil_task_await(tasks[2])));
    trace("left %s, right %s", state(parts[2].futures[0]), state(parts[2].futures[1]));
    return coil_task_await(ticks);
}
