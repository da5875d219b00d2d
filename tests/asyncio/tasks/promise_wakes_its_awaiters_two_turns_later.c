/* A promise that is set wakes the tasks that wait for it in the second turn, in their
 * order. */
#include "../scenario.h"

struct waiter {
    const char *name;
    coil_promise *promise;
};

static int body(void *arg)
{
    struct waiter *waiter = arg;

    return tell(waiter->name, coil_promise_await(waiter->promise)) == 5 ? 0 : -EPROTO;
}

static int set_it(coil_promise *promise)
{
    struct waiter waiters[2] = {{"a", promise}, {"b", promise}};
    coil_task *a = start(body, &waiters[0]), *b = start(body, &waiters[1]);

    coil_sleep(COIL_SEC(1));
    coil_promise_set(promise, 5, NULL, NULL);
    trace("set");
    start(ticker, TURNS(3));
    if (a != NULL)
        coil_task_await(a);
    if (b != NULL)
        coil_task_await(b);
    return 0;
}

SCENARIO(promise_wakes_its_awaiters_two_turns_later)
{
    coil_promise *promise;
    int rc = coil_promise_create(&promise);

    if (rc < 0)
        return rc;
    rc = set_it(promise);
    coil_promise_release(promise);
    return rc;
}
