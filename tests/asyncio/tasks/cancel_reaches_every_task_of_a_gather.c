/* Cancelling a task that gathers cancels all it gathers, in order, and the future they
 * await. */
#include "../scenario.h"

static coil_future *future, *futures[2];

static int inner(void *name)
{
    return tell(name, coil_await(future));
}

static int outer(void *arg)
{
    (void)arg;
    return tell("outer", coil_gather(futures, 2, 0, NULL));
}

SCENARIO(cancel_reaches_every_task_of_a_gather)
{
    static char names[2][8] = {"inner 0", "inner 1"};
    coil_task *tasks[2], *task, *ticks;

    future = new_future();
    for (int i = 0; i < 2; i++)
        tasks[i] = start(inner, names[i]);
    task = start(outer, NULL);
    ticks = start(ticker, TURNS(5));
    if (ticks == NULL)
        return -ENOMEM;
    for (int i = 0; i < 2; i++)
        futures[i] = coil_task_future(tasks[i]);
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("future %s, tasks %s %s", state(future), state(futures[0]), state(futures[1]));
    trace("counted: %d %d %d", coil_task_cancelling(task), coil_task_cancelling(tasks[0]),
          coil_task_cancelling(tasks[1]));
    trace("outer task: %s", outcome(coil_task_await(task)));
    trace("tasks %s %s", state(futures[0]), state(futures[1]));
    return coil_task_await(ticks);
}
