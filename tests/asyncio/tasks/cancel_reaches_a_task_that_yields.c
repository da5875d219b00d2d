/* A task that has merely yielded is told where it stands, and yields no second time. */
#include "../scenario.h"

static int body(void *arg)
{
    int rc = tell("first", coil_yield());

    (void)arg;
    return rc < 0 ? rc : tell("second", coil_yield());
}

SCENARIO(cancel_reaches_a_task_that_yields)
{
    coil_task *task = start(body, NULL), *ticks;

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    ticks = start(ticker, TURNS(2));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    return ticks != NULL ? coil_task_await(ticks) : -ENOMEM;
}
