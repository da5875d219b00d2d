/* A future that is set in time is known to who waits in the next turn. */
#include "../scenario.h"

static void set_to_five(void *future)
{
    coil_future_set(future, 5, NULL, NULL);
}

SCENARIO(wait_for_goes_on_as_soon_as_the_future_is_set)
{
    coil_future *future = new_future();
    int rc;

    if (future == NULL)
        return -ENOMEM;
    rc = coil_call_soon(set_to_five, future, NULL);
    if (rc < 0)
        return rc;
    start(ticker, TURNS(3));
    tell("wait_for", coil_wait_for(future, coil_in(COIL_SEC(2))));
    tell("sleep", coil_sleep(COIL_SEC(3)));
    return 0;
}
