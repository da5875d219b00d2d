/* A failure calls the callbacks as a result does; looking at it is up to them. */
#include "../scenario.h"

static void look(coil_future *future, void *arg)
{
    (void)arg;
    trace("sees %s", state(future));
}

static void glance(coil_future *future, void *arg)
{
    (void)arg;
    trace("sees it is done: %d", coil_future_done(future));
}

SCENARIO(callbacks_are_called_for_a_failure)
{
    coil_future *future = new_future();
    int rc = future != NULL ? coil_future_add_callback(future, look, NULL) : -ENOMEM;

    if (rc == 0)
        rc = coil_future_add_callback(future, glance, NULL);
    if (rc == 0)
        coil_sleep(COIL_SEC(1));
    if (future != NULL)
        coil_future_set(future, -EIO, NULL, NULL);
    if (rc < 0)
        return rc;
    trace("failed");
    coil_sleep(COIL_SEC(1));
    trace("future: %s", state(future));
    return 0;
}
