/* A future that failed and was never asked is reported as its last reference goes: not
 * before, and once. */
#include "../scenario.h"

SCENARIO(never_retrieved_failure_of_a_future_is_reported)
{
    coil_future *future, *other;
    int rc = coil_future_create(&future);

    if (rc < 0)
        return rc;
    coil_set_exception_handler(tell_exception, NULL);
    other = coil_future_retain(future);
    coil_future_set(future, -EIO, NULL, NULL);
    trace("set");
    turns(2);
    coil_future_release(future);
    trace("one reference left");
    coil_future_release(other);
    trace("none left");
    return 0;
}
