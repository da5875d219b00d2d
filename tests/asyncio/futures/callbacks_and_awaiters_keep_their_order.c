/* Those who await a future and its callbacks are one line: first come, first served. */
#include "../scenario.h"

static coil_future *future;

static int waiter(void *name)
{
    tell(name, coil_await(future));
    return 0;
}

static void callback(coil_future *done, void *name)
{
    (void)done;
    trace("%s", (char *)name);
}

SCENARIO(callbacks_and_awaiters_keep_their_order)
{
    coil_task *first, *second = NULL;
    int rc;

    future = new_future();
    first = start(waiter, "first task");
    if (first == NULL)
        return -ENOMEM;
    turns(1);
    rc = coil_future_add_callback(future, callback, "first callback");
    if (rc == 0)
        second = start(waiter, "second task");
    turns(1);
    if (second != NULL)
        rc = coil_future_add_callback(future, callback, "second callback");
    coil_sleep(COIL_SEC(1));
    coil_future_set(future, 3, NULL, NULL);
    coil_task_await(first);
    return second != NULL ? coil_task_await(second) : rc;
}
