/* A failure that wait() had to look at is not reported; one that ended it by being the
 * last is. */
#include "../scenario.h"

static int wait_for_failed(const char *name, coil_wait_mode mode, size_t n)
{
    coil_future *futures[2] = {NULL, NULL};
    int rc = 0, done;

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = coil_future_create(&futures[i]);
    if (rc == 0) {
        coil_future_set(futures[0], -EIO, NULL, NULL);
        done = coil_wait(futures, n, mode, coil_in(COIL_SEC(1)));
        trace("%s of %d: %d done", name, (int)n, done);
    }
    for (size_t i = 0; i < n; i++)
        coil_future_release(futures[i]);
    return rc;
}

SCENARIO(wait_looks_at_a_failure_only_where_that_decides)
{
    static const char *const names[] = {"all", "first", "failure"};
    int rc = 0;

    coil_set_exception_handler(tell_exception, NULL);
    for (int mode = COIL_WAIT_ALL; rc == 0 && mode <= COIL_WAIT_FIRST_EXCEPTION; mode++)
        for (size_t n = 1; rc == 0 && n <= 2; n++)
            rc = wait_for_failed(names[mode], (coil_wait_mode)mode, n);
    return rc;
}
