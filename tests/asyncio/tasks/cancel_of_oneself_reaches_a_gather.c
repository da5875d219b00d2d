/* A request for oneself cancels all that one gathers next. */
#include "../scenario.h"

static coil_future *futures[2];

static int inner(void *name)
{
    return tell(name, coil_sleep(COIL_SEC(2)));
}

static int body(void *arg)
{
    (void)arg;
    turns(1);
    coil_task_cancel(coil_task_current(), NULL);
    return tell("body", coil_gather(futures, 2, COIL_GATHER_ALL, NULL));
}

SCENARIO(cancel_of_oneself_reaches_a_gather)
{
    coil_task *first = start(inner, "inner 0"), *second = start(inner, "inner 1");
    coil_task *task = start(body, NULL), *ticks = start(ticker, TURNS(5));

    if (ticks == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(first);
    futures[1] = coil_task_future(second);
    trace("task: %s", outcome(coil_task_await(task)));
    trace("inner: %s %s", state(futures[0]), state(futures[1]));
    return coil_task_await(ticks);
}
