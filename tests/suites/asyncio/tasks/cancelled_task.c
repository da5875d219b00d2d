/*
 * cancelled_task.c - how a task handles requests to cancel it, including requests from
 * itself.
 */
#include "../scenario.h"

static coil_future *cancel_of_oneself_reaches_a_gather_futures[2];

static int cancel_of_oneself_reaches_a_gather_inner(void *name)
{
    return trace_outcome(name, coil_sleep(COIL_SEC(2)));
}

static int cancel_of_oneself_reaches_a_gather_body(void *arg)
{
    (void)arg;
    turns(1);
    coil_task_cancel(coil_task_current(), NULL);
    return trace_outcome("body", coil_gather(cancel_of_oneself_reaches_a_gather_futures,
                                             2, COIL_GATHER_ALL, NULL));
}

/* A task that cancels itself cancels all children of its next gather. */
SCENARIO(cancel_of_oneself_reaches_a_gather)
{
    coil_task *first = start(cancel_of_oneself_reaches_a_gather_inner, "inner 0"),
              *second = start(cancel_of_oneself_reaches_a_gather_inner, "inner 1");
    coil_task *task = start(cancel_of_oneself_reaches_a_gather_body, NULL),
              *ticks = start(ticker, TURNS(5));

    if (ticks == NULL)
        return -ENOMEM;
    cancel_of_oneself_reaches_a_gather_futures[0] = coil_task_future(first);
    cancel_of_oneself_reaches_a_gather_futures[1] = coil_task_future(second);
    trace("task: %s", outcome(coil_task_await(task)));
    trace("inner: %s %s", state(cancel_of_oneself_reaches_a_gather_futures[0]),
          state(cancel_of_oneself_reaches_a_gather_futures[1]));
    return coil_task_await(ticks);
}

static int nested(void *future)
{
    return trace_outcome("nested", coil_await(future));
}

static int cancel_of_oneself_reaches_what_is_awaited_body(void *future)
{
    coil_task *task = start(nested, future);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(coil_task_current(), NULL);
    rc = coil_task_await(task);
    trace("body: %s, nested task %s", outcome(rc), state(coil_task_future(task)));
    return rc;
}

/*
 * If a task cancels itself and then awaits another task, that other task is cancelled
 * too, and so is the future that the other task awaits.
 */
SCENARIO(cancel_of_oneself_reaches_what_is_awaited_next)
{
    coil_future *future = new_future();
    coil_task *task = start(cancel_of_oneself_reaches_what_is_awaited_body, future);

    if (task == NULL)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("future: %s", state(future));
    return 0;
}

static int cancel_of_oneself_stops_inner(void *arg)
{
    int rc = trace_outcome("inner", coil_sleep(COIL_SEC(2)));

    (void)arg;
    return rc < 0 ? rc : 8;
}

static int cancel_of_oneself_stops_body(void *task)
{
    coil_task_cancel(coil_task_current(), NULL);
    return trace_outcome("body", coil_shield(coil_task_future(task)));
}

/*
 * If a task cancels itself and then awaits a shielded future, the wait is cancelled, and
 * the shielded work continues.
 */
SCENARIO(cancel_of_oneself_stops_before_a_shield)
{
    coil_task *inner_task = start(cancel_of_oneself_stops_inner, NULL),
              *task = start(cancel_of_oneself_stops_body, inner_task);

    if (task == NULL)
        return -ENOMEM;
    trace("task: %s", outcome(coil_task_await(task)));
    trace("inner: %s", state(coil_task_future(inner_task)));
    trace("inner: %s", outcome(coil_task_await(inner_task)));
    return 0;
}

static int cancel_of_oneself_waits_body(void *done)
{
    coil_future *twice[] = {done, done};
    int rcs[2], rc;

    coil_task_cancel(coil_task_current(), NULL);
    trace_outcome("done future", coil_await(done));
    trace_outcome("shield", coil_shield(done));
    rc = coil_gather(twice, 2, 0, rcs);
    if (rc < 0)
        return rc;
    trace("gathered %d", rcs[1]);
    return trace_outcome("yield", coil_yield());
}

/*
 * A task that has cancelled itself can still get results without waiting, from completed
 * futures and from gathers of completed futures.
 */
SCENARIO(cancel_of_oneself_waits_for_a_wait_that_suspends)
{
    coil_future *done = new_future();
    coil_task *task = start(cancel_of_oneself_waits_body, done);

    if (task == NULL)
        return -ENOMEM;
    coil_future_set(done, 6, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

static int cancelling_counts_body(void *arg)
{
    int rc = trace_outcome("await", coil_sleep(COIL_SEC(10)));

    (void)arg;
    trace("counted inside: %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

/* Each request to cancel is counted, but the task is cancelled only once. */
SCENARIO(cancelling_counts_each_request)
{
    coil_task *task = start(cancelling_counts_body, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("counted: %d", coil_task_cancelling(task));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("counted: %d", coil_task_cancelling(task));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("counted: %d", coil_task_cancelling(task));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("counted: %d", coil_task_cancelling(task));
    return 0;
}

static int task_and_its_future_body(void *future)
{
    int rc = trace_outcome("await", coil_await(future));

    trace("counted: %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

/*
 * If a task is cancelled right after the future that it awaits was cancelled, it gets
 * only one cancellation.
 */
SCENARIO(task_and_its_future_are_cancelled_both)
{
    coil_future *future = new_future();
    coil_task *task = start(task_and_its_future_body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel the future: %d", coil_future_cancel(future, NULL));
    trace("cancel the task: %d", coil_task_cancel(task, NULL));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

static int task_cancelled_body(void *arg)
{
    (void)arg;
    trace("never printed");
    return 0;
}

/* A task that is cancelled before its first step never runs. */
SCENARIO(task_cancelled_before_its_first_step)
{
    coil_task *task;
    int rc = coil_spawn(task_cancelled_body, NULL, NULL, &task);

    if (rc < 0)
        return rc;
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("before: %s", state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    coil_task_release(task);
    return 0;
}

static int task_that_cancels_itself_and_returns_body(void *fails)
{
    trace("cancel: %d", coil_task_cancel(coil_task_current(), NULL));
    return fails != NULL ? -EIO : 12;
}

/*
 * A task that cancels itself and returns before its next wait is cancelled, whether it
 * returns a result or fails.
 */
SCENARIO(task_that_cancels_itself_and_returns_is_cancelled)
{
    static int fails;

    for (int i = 0; i < 2; i++) {
        coil_task *task =
            start(task_that_cancels_itself_and_returns_body, i == 0 ? NULL : &fails);

        if (task == NULL)
            return -ENOMEM;
        trace("awaited: %s", outcome(coil_task_await(task)));
        trace("counted: %d", coil_task_cancelling(task));
        trace("cancel: %d", coil_task_cancel(task, NULL));
    }
    return 0;
}

static int task_that_cancels_itself_is_told_body(void *arg)
{
    coil_task *task = coil_task_current();
    int rc;

    (void)arg;
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("still runs, counted %d", coil_task_cancelling(task));
    rc = trace_outcome("slept", coil_sleep(COIL_SEC(100)));
    return rc < 0 ? rc : 12;
}

/* If a task cancels itself, its next wait is cancelled at once. */
SCENARIO(task_that_cancels_itself_is_told_at_its_next_wait)
{
    coil_task *task = start(task_that_cancels_itself_is_told_body, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    return 0;
}

static coil_future *task_that_catches_first, *task_that_catches_second;

static int task_that_catches_body(void *arg)
{
    (void)arg;
    trace("first: %s", outcome(coil_await(task_that_catches_first)));
    trace("second: %s", outcome(coil_await(task_that_catches_second)));
    return 42;
}

/* A task that catches its cancellation and returns is done, not cancelled. */
SCENARIO(task_that_catches_a_cancellation_returns_its_result)
{
    coil_task *task;

    task_that_catches_first = new_future();
    task_that_catches_second = new_future();
    task = start(task_that_catches_body, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(task_that_catches_first, 1, NULL, NULL);
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("second is %s", state(task_that_catches_second));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("cancelled: %d", coil_future_cancelled(coil_task_future(task)));
    return 0;
}

static int task_that_fails_body(void *arg)
{
    (void)arg;
    trace("slept: %s", outcome(coil_sleep(COIL_SEC(10))));
    return -EIO;
}

/*
 * A task that returns a failure after its cancellation counts as failed, not as
 * cancelled.
 */
SCENARIO(task_that_fails_when_it_is_cancelled_has_failed)
{
    coil_task *task = start(task_that_fails_body, NULL);
    coil_future *future;

    if (task == NULL)
        return -ENOMEM;
    future = coil_task_future(task);
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("state: %s", state(future));
    turns(1);
    trace("state: %s, cancelled: %d", state(future), coil_future_cancelled(future));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

static coil_future *task_that_ignores_futures[3];

static int task_that_ignores_body(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        trace("%d: %s", i, outcome(coil_await(task_that_ignores_futures[i])));
        coil_cancel_caught();
    }
    return 42;
}

/*
 * A task that has caught its cancellation may await another future, which is not
 * cancelled.
 */
SCENARIO(task_that_ignores_a_cancellation_waits_on)
{
    coil_task *task;

    for (int i = 0; i < 3; i++)
        task_that_ignores_futures[i] = new_future();
    task = start(task_that_ignores_body, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(task_that_ignores_futures[0], 1, NULL, NULL);
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    turns(1);
    trace("task %s, counted %d", state(coil_task_future(task)),
          coil_task_cancelling(task));
    trace("set the cancelled one: %s",
          outcome(coil_future_set(task_that_ignores_futures[1], 2, NULL, NULL)));
    coil_future_set(task_that_ignores_futures[2], 3, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("futures: %s %s %s", state(task_that_ignores_futures[0]),
          state(task_that_ignores_futures[1]), state(task_that_ignores_futures[2]));
    return 0;
}

static int uncancel_drops_body(void *arg)
{
    coil_task *task = coil_task_current();

    coil_task_cancel(task, NULL);
    coil_task_cancel(task, NULL);
    trace("counted %d", coil_task_cancelling(task));
    trace("%d left", coil_uncancel());
    trace("%d left", coil_uncancel());
    trace("%d left", coil_uncancel());
    trace("future: %s", outcome(coil_await(arg)));
    return 42;
}

/*
 * A task that cancels itself and withdraws the request before it waits is not cancelled.
 */
SCENARIO(uncancel_drops_a_request_not_yet_delivered)
{
    coil_future *future = new_future();
    coil_task *task = start(uncancel_drops_body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(future, 7, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

static int uncancel_lets_body(void *arg)
{
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    if (rc != -ECANCELED)
        return rc;
    coil_cancel_caught();
    trace("caught; %d left", coil_uncancel());
    return coil_sleep(COIL_SEC(10));
}

static void look(coil_task *task)
{
    trace("counted %d, %s", coil_task_cancelling(task), state(coil_task_future(task)));
}

/*
 * A task that has caught its cancellation and withdrawn the request can sleep until the
 * next request.
 */
SCENARIO(uncancel_lets_a_task_be_cancelled_anew)
{
    coil_task *task = start(uncancel_lets_body, NULL);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    look(task);
    coil_sleep(COIL_SEC(1));
    look(task);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    look(task);
    trace("awaited: %s", outcome(coil_task_await(task)));
    look(task);
    return 0;
}

struct timed {
    coil_task *task;
    bool fired;
};

static void fire(void *arg)
{
    struct timed *t = arg;

    t->fired = true;
    trace("the timer cancels");
    coil_task_cancel(t->task, NULL);
}

static int timed(void *arg)
{
    struct timed t = {.task = coil_task_current()};
    const int64_t *seconds = arg;
    coil_handle *timer;
    int rc = coil_call_later(seconds[1], fire, &t, &timer);

    if (rc < 0)
        return rc;
    rc = coil_sleep(seconds[0]);
    coil_handle_cancel(timer);
    coil_handle_release(timer);
    if (t.fired && coil_uncancel() == 0 && rc == -ECANCELED) {
        coil_cancel_caught();
        rc = -ETIMEDOUT;
    }
    trace("the block: %s, counted %d", outcome(rc), coil_task_cancelling(t.task));
    trace("after it: %s", outcome(coil_yield()));
    return 0;
}

/*
 * A program can implement its own timeout with a timer that cancels the task: if
 * uncancel() returns 0 afterwards, the timer alone has cancelled the task.
 */
SCENARIO(uncancel_makes_a_timeout_of_ones_own)
{
    static const int64_t seconds[2][2] = {{COIL_SEC(10), COIL_SEC(1)},
                                          {COIL_SEC(1), COIL_SEC(10)}};

    for (int i = 0; i < 2; i++) {
        coil_task *task = start(timed, (void *)seconds[i]);

        if (task == NULL)
            return -ENOMEM;
        trace("awaited: %s", outcome(coil_task_await(task)));
    }
    return 0;
}

static int uncancel_takes_body(void *arg)
{
    coil_task *task = coil_task_current();
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    if (rc == -ECANCELED) {
        coil_cancel_caught();
        trace("caught, counted %d", coil_task_cancelling(task));
        trace("%d left", coil_uncancel());
    }
    rc = trace_outcome("sleeps on", coil_sleep(COIL_SEC(1)));
    trace("counted %d", coil_task_cancelling(task));
    return rc < 0 ? rc : 2;
}

/* After two requests to cancel, one uncancel() leaves one request in the count. */
SCENARIO(uncancel_takes_back_one_of_two_requests)
{
    coil_task *task = start(uncancel_takes_body, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    for (int i = 0; i < 2; i++)
        trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("counted %d", coil_task_cancelling(task));
    return 0;
}
