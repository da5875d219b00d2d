/*
 * own_awaitable.c - a thing of one's own that can be awaited.
 *
 * An awaitable is a struct that begins with a coil_awaitable. How it waits is its own
 * business: the timer here parks the task that awaits it, and a callback of the loop
 * unparks it. This is all that coil_sleep() needs to be.
 */
#include <coil.h>

#include <stdio.h>

struct timer {
    coil_awaitable awaitable; // first
    int64_t delay_ns;
    coil_task *waiter;
};

static void wake(void *arg)
{
    struct timer *timer = arg;

    coil_unpark(timer->waiter, 42); // what coil_park() returns there
}

static int timer_await(void *self)
{
    struct timer *timer = self;
    coil_handle *handle;
    int rc = coil_call_later(timer->delay_ns, wake, timer, &handle);

    if (rc < 0)
        return rc;
    timer->waiter = coil_task_current();
    rc = coil_park();
    coil_handle_cancel(handle); // in case that we were cancelled
    coil_handle_release(handle);
    return rc;
}

/* Whoever awaits need not know what: a timer, or anything else made like it. */
static int wait_for(const char *what, coil_awaitable *awaitable)
{
    int rc = coil_awaitable_await(awaitable);

    printf("%s: %d\n", what, rc);
    return rc;
}

static int app(void *arg)
{
    (void)arg;
    struct timer egg = {{timer_await}, COIL_MSEC(50), NULL};
    struct timer roast = {{timer_await}, COIL_SEC(3600), NULL};
    coil_scope scope;

    wait_for("egg", &egg.awaitable);
    int rc = coil_scope_enter(&scope, coil_in(COIL_MSEC(50)));
    if (rc == 0)
        rc = coil_scope_exit(&scope, wait_for("roast", &roast.awaitable));
    printf("%s\n", rc == -ETIMEDOUT ? "gave up on the roast" : "dinner");
    return 0;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
