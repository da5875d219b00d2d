/* A cancellation reaches the future at the bottom of the calls, and comes up through
 * them. */
#include "../scenario.h"

static int inner(coil_future *future)
{
    return tell("inner", coil_await(future));
}

static int outer(void *future)
{
    if (tell("outer", inner(future)) == -ECANCELED) {
        coil_cancel_caught();
        trace("outer catches it");
    }
    return 101;
}

SCENARIO(cancel_passes_through_nested_calls_to_the_future)
{
    coil_future *future = new_future();
    coil_task *task = start(outer, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(task, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("future: %s, counted %d", state(future), coil_task_cancelling(task));
    return 0;
}
