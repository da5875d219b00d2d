/* A promise that is done before it is awaited takes two turns as well. */
#include "../scenario.h"

SCENARIO(promise_that_is_done_is_waited_for_all_the_same)
{
    coil_promise *promise;
    int rc = coil_promise_create(&promise);

    if (rc < 0)
        return rc;
    coil_promise_set(promise, 6, NULL, NULL);
    start(ticker, TURNS(3));
    tell("first", coil_promise_await(promise));
    tell("second", coil_promise_await(promise));
    coil_promise_release(promise);
    return 0;
}
