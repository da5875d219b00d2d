/*
 * 11_own_sleep.c - a sleep function made of a future and a timer.
 *
 * The helper class of the article S1 (docs/seeds.md) has an __await__ that creates a
 * future, lets call_later() set it, awaits it, and cancels the timer in `finally`. In C,
 * an awaitable is a struct that begins with a coil_awaitable. Code that awaits the struct
 * need not know its type. As in the article, the loop uses select(2).
 *
 * To try: remove coil_handle_cancel(). The cancelled sleep then leaves its timer behind.
 */
#include <coil.h>

#include <stdio.h>

/* [awaitable] */
struct sleep {
    coil_awaitable awaitable; // must be the first member
    int64_t delay_ns;
    int result;
};

static void wake(void *arg)
{
    coil_future_set(arg, 0, NULL, NULL);
}

static int sleep_await(void *self)
{
    const struct sleep *sleep = self;
    coil_future *future;
    coil_handle *handle;

    if (sleep->delay_ns <= 0)
        return coil_yield(); // one turn of the loop (in the article: 1 instead of 0)
    int rc = coil_future_create(&future);
    if (rc < 0)
        return rc;
    rc = coil_call_later(sleep->delay_ns, wake, future, &handle);
    if (rc == 0) {
        rc = coil_await(future);
        coil_handle_cancel(handle); // in Python: finally: h.cancel()
        coil_handle_release(handle);
    }
    coil_future_release(future);
    return rc < 0 ? rc : sleep->result;
}
/* [end] */

static int wait_for(const char *what, coil_awaitable *awaitable)
{
    int rc = coil_awaitable_await(awaitable);
    printf("%s: %d\n", what, rc);
    return rc;
}

static int app(void *arg)
{
    (void)arg;
    struct sleep egg = {{sleep_await}, COIL_MSEC(50), 42};
    struct sleep nothing = {{sleep_await}, 0, 0};
    struct sleep roast = {{sleep_await}, COIL_SEC(3600), 1};
    coil_scope scope;
    coil_stats stats;

    printf("on %s\n", coil_backend_name());
    wait_for("egg", &egg.awaitable);
    wait_for("nothing", &nothing.awaitable);
    int rc = coil_scope_enter(&scope, coil_in(COIL_MSEC(50)));
    if (rc == 0)
        rc = coil_scope_exit(&scope, wait_for("roast", &roast.awaitable));
    printf("%s\n", rc == -ETIMEDOUT ? "gave up on the roast" : "dinner");
    coil_stats_get(&stats);
    printf("%zu timers are left\n", stats.timers);
    return 0;
}

int main(void)
{
    return coil_run(app, NULL, &(coil_run_opts){.loop.backend = "select"}) < 0;
}
