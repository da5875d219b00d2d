/* A task calls its callbacks in the turn after its end, be that a result, failure or
 * cancel. */
#include "../scenario.h"

static int body(void *arg)
{
    int i = (int)(intptr_t)arg, rc = coil_sleep(COIL_SEC(2));

    if (rc < 0)
        return rc;
    trace("body %d ends", i);
    return i == 1 ? -EIO : i;
}

static void callback(coil_future *future, void *i)
{
    trace("callback %d: %s", (int)(intptr_t)i, state(future));
}

SCENARIO(callback_of_a_task_sees_how_it_ended)
{
    coil_future *futures[3];
    coil_task *last = NULL;

    for (int i = 0; i < 3; i++) {
        last = start(body, (void *)(intptr_t)i);
        if (last == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(last);
        if (coil_future_add_callback(futures[i], callback, (void *)(intptr_t)i) < 0)
            return -ENOMEM;
    }
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(last, NULL));
    trace("done: %d", coil_wait(futures, 3, COIL_WAIT_ALL, COIL_NEVER));
    return 0;
}
