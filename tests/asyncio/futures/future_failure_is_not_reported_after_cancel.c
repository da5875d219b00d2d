/* A failed future that is dropped is reported; retrieved, or cancelled in vain, it is
 * not. */
#include "../scenario.h"

SCENARIO(future_failure_is_not_reported_after_cancel)
{
    static const char *const hows[] = {"dropped", "retrieved", "cancelled"};

    coil_set_exception_handler(tell_exception, NULL);
    for (int i = 0; i < 3; i++) {
        coil_future *future;
        int rc = coil_future_create(&future);

        if (rc < 0)
            return rc;
        trace("%s", hows[i]);
        coil_future_set(future, -EIO, NULL, NULL);
        if (i == 1)
            trace("exception: %s", outcome(coil_future_result(future)));
        if (i == 2)
            trace("cancel: %d", coil_future_cancel(future, NULL));
        coil_future_release(future);
    }
    return 0;
}
