/* An awaitable of the user's own waits step by step, with others between, and has a
 * result. */
#include "../scenario.h"

struct countdown {
    coil_awaitable awaitable;
    int ticks;
};

static int count_down(void *self)
{
    struct countdown *countdown = self;
    int rc = 0;

    while (rc == 0 && countdown->ticks > 0) {
        trace("countdown: %d", countdown->ticks--);
        rc = coil_yield();
    }
    return rc < 0 ? rc : 99;
}

static int body(void *countdown)
{
    return coil_awaitable_await(countdown);
}

SCENARIO(awaitable_of_ones_own_waits_inside_its_task)
{
    struct countdown first = {{count_down}, 2};
    static struct countdown second = {{count_down}, 2};
    coil_task *ticks = start(ticker, TURNS(3)), *task;

    if (ticks == NULL)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_awaitable_await(&first.awaitable)));
    task = start(body, &second);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("in a task: %s", outcome(coil_task_await(task)));
    return coil_task_await(ticks);
}
