/* A callback too may spawn eagerly: the child runs inside it. */
#include "../scenario.h"

static int child(void *arg)
{
    int rc;

    (void)arg;
    trace("child begins");
    rc = coil_yield();
    trace("child goes on");
    return rc;
}

static void callback(void *arg)
{
    (void)arg;
    trace("callback begins");
    start_with(child, NULL, &(coil_spawn_opts){.eager = true});
    trace("callback ends, current task: %d", coil_task_current() != NULL);
}

SCENARIO(eager_child_of_a_callback)
{
    int rc;

    start(ticker, TURNS(3));
    rc = coil_call_soon(callback, NULL, NULL);
    return rc < 0 ? rc : turns(3);
}
