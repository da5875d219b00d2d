/* Of four tasks that await each other all are asked at once, and end one turn after the
 * other. */
#include "../scenario.h"

struct link {
    int number;
    coil_future *inner;
};

static int chain(void *arg)
{
    struct link *link = arg;
    int rc = coil_await(link->inner);

    trace("link %d ends", link->number);
    return rc;
}

SCENARIO(cancel_runs_down_a_chain_and_comes_back_up)
{
    static struct link links[4];
    coil_task *tasks[4], *ticks;
    coil_future *inner = new_future();

    for (int i = 0; i < 4; i++) {
        links[i] = (struct link){i, inner};
        tasks[i] = start(chain, &links[i]);
        if (tasks[i] == NULL)
            return -ENOMEM;
        inner = coil_task_future(tasks[i]);
    }
    turns(2);
    ticks = start(ticker, TURNS(5));
    if (ticks == NULL)
        return -ENOMEM;
    trace("cancel: %d", coil_task_cancel(tasks[3], NULL));
    trace("counted: %d %d %d %d", coil_task_cancelling(tasks[0]),
          coil_task_cancelling(tasks[1]), coil_task_cancelling(tasks[2]),
          coil_task_cancelling(tasks[3]));
    trace("awaited: %s", outcome(coil_task_await(tasks[3])));
    trace("states: %s %s %s %s", state(links[1].inner), state(links[2].inner),
          state(links[3].inner), state(inner));
    return coil_task_await(ticks);
}
