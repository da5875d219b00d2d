/* A callback sets the future that a task awaits: one turn for the callback, one for the
 * task. */
#include "../scenario.h"

static void set(void *future)
{
    coil_future_set(future, 11, NULL, NULL);
}

static int body(void *arg)
{
    coil_future *future = new_future();

    (void)arg;
    if (future == NULL || coil_call_soon(set, future, NULL) < 0)
        return -ENOMEM;
    return tell("body", coil_await(future));
}

SCENARIO(future_set_by_a_callback_wakes_its_task)
{
    coil_task *task = start(body, NULL), *ticks = start(ticker, TURNS(4));

    if (ticks == NULL)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_task_await(task)));
    return coil_task_await(ticks);
}
