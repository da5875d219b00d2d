/* wait() wants at least one future, and one of its three modes. */
#include "../scenario.h"

static const char *try_wait(coil_future *futures[], size_t n, int mode, int64_t deadline)
{
    return outcome(coil_wait(futures, n, (coil_wait_mode)mode, deadline));
}

SCENARIO(wait_of_nothing_is_refused)
{
    coil_future *future = new_future();

    if (future == NULL)
        return -ENOMEM;
    trace("nothing: %s", try_wait(NULL, 0, COIL_WAIT_ALL, COIL_NEVER));
    trace("nothing, until 1: %s", try_wait(NULL, 0, COIL_WAIT_ALL, coil_in(COIL_SEC(1))));
    trace("no such mode: %s", try_wait(&future, 1, -1, coil_in(COIL_SEC(1))));
    trace("until 1: %s", try_wait(&future, 1, COIL_WAIT_ALL, coil_in(COIL_SEC(1))));
    trace("the future: %s", state(future));
    return 0;
}
