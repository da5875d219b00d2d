/* Cancelling a task that waits for a promise cancels the promise, and so whoever else
 * waits for it. */
#include "../scenario.h"

struct waiter {
    const char *name;
    coil_promise *promise;
};

static int body(void *arg)
{
    struct waiter *waiter = arg;

    tell(waiter->name, coil_promise_await(waiter->promise));
    coil_cancel_caught();
    return 0;
}

static int cancel_one(coil_promise *promise)
{
    struct waiter waiters[2] = {{"a", promise}, {"b", promise}};
    coil_task *a = start(body, &waiters[0]), *b = start(body, &waiters[1]);

    if (a == NULL || b == NULL || coil_sleep(COIL_SEC(1)) < 0) {
        coil_promise_cancel(promise, NULL);
        turns(3); /* the waiters lie here */
        return -ENOMEM;
    }
    coil_task_cancel(a, NULL);
    trace("cancelled, promise done: %d", coil_promise_done(promise));
    coil_task_await(a);
    trace("a ended, promise done: %d", coil_promise_done(promise));
    coil_task_await(b);
    trace("set: %d", coil_promise_result(promise) == -ECANCELED);
    return 0;
}

SCENARIO(promise_is_cancelled_with_the_task_that_awaits_it)
{
    coil_promise *promise;
    int rc = coil_promise_create(&promise);

    if (rc < 0)
        return rc;
    rc = cancel_one(promise);
    coil_promise_release(promise);
    return rc;
}
