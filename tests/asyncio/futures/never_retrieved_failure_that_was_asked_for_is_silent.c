/* A failure that somebody has asked for, by result, exception or await, is not reported.
 */
#include "../scenario.h"

static coil_future *failed(void)
{
    coil_future *future;

    if (coil_future_create(&future) < 0)
        return NULL;
    coil_future_set(future, -EIO, NULL, NULL);
    return future;
}

SCENARIO(never_retrieved_failure_that_was_asked_for_is_silent)
{
    static const char *const ways[] = {"result", "exception", "awaited"};
    coil_future *future;

    coil_set_exception_handler(tell_exception, NULL);
    for (int i = 0; i < 3; i++) {
        future = failed();
        if (future == NULL)
            return -ENOMEM;
        trace("%s: %s", ways[i], i < 2 ? state(future) : outcome(coil_await(future)));
        coil_future_release(future);
    }
    future = failed();
    if (future == NULL)
        return -ENOMEM;
    trace("done: %d", coil_future_done(future));
    coil_future_release(future);
    trace("end");
    return 0;
}
