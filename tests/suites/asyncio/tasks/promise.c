/*
 * promise.c - promises: tasks that one thread spawns in the loop of another thread and
 * waits for.
 */
#include "../scenario.h"

struct waiter {
    const char *name;
    coil_promise *promise;
};

static int promise_is_cancelled_body(void *arg)
{
    struct waiter *waiter = arg;

    trace_outcome(waiter->name, coil_promise_await(waiter->promise));
    coil_cancel_caught();
    return 0;
}

static int cancel_one(coil_promise *promise)
{
    struct waiter waiters[2] = {{"a", promise}, {"b", promise}};
    coil_task *a = start(promise_is_cancelled_body, &waiters[0]),
              *b = start(promise_is_cancelled_body, &waiters[1]);

    if (a == NULL || b == NULL || coil_sleep(COIL_SEC(1)) < 0) {
        coil_promise_cancel(promise, NULL);
        turns(3); /* the tasks end before the local array `waiters` does */
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

/*
 * Cancelling a task that waits for a promise cancels the promise, and therefore all other
 * waiters.
 */
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

static int promise_of_a_spawn_cancelled_body(void *arg)
{
    (void)arg;
    trace("begins");
    return trace_outcome("waits", coil_sleep(COIL_SEC(9)));
}

/*
 * If a promise is cancelled before its task has started, the task still runs up to its
 * first wait.
 */
SCENARIO(promise_of_a_spawn_cancelled_before_it_began)
{
    coil_promise *promise;
    int rc = coil_spawn_threadsafe(coil_loop_current(), promise_of_a_spawn_cancelled_body,
                                   NULL, NULL, &promise);

    if (rc < 0)
        return rc;
    trace("cancel: %d", coil_promise_cancel(promise, NULL));
    ticker(TURNS(5));
    trace("cancelled: %d", coil_promise_result(promise) == -ECANCELED);
    coil_promise_release(promise);
    return 0;
}

static int promise_of_a_spawn_cancels_body(void *arg)
{
    int rc;

    (void)arg;
    rc = coil_sleep(COIL_SEC(9));
    if (rc == -ECANCELED)
        trace("task is cancelled");
    return rc;
}

/*
 * Cancelling the promise of a task that was started from another thread cancels the task
 * two turns later.
 */
SCENARIO(promise_of_a_spawn_cancels_its_task)
{
    coil_promise *promise;
    int rc = coil_spawn_threadsafe(coil_loop_current(), promise_of_a_spawn_cancels_body,
                                   NULL, NULL, &promise);

    if (rc < 0)
        return rc;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_promise_cancel(promise, NULL));
    trace("done: %d", coil_promise_done(promise));
    ticker(TURNS(4));
    trace("again: %d", coil_promise_result(promise) == -ECANCELED);
    coil_promise_release(promise);
    return 0;
}

static int promise_of_a_spawn_has_its_failure_body(void *arg)
{
    (void)arg;
    coil_sleep(COIL_SEC(1));
    trace("fails");
    return -EIO;
}

/*
 * If a task that was started from another thread fails, its promise fails with the same
 * error.
 */
SCENARIO(promise_of_a_spawn_has_its_failure)
{
    coil_promise *promise;
    int rc = coil_spawn_threadsafe(coil_loop_current(),
                                   promise_of_a_spawn_has_its_failure_body, NULL, NULL,
                                   &promise);

    if (rc < 0)
        return rc;
    trace("done: %d", coil_promise_done(promise));
    trace_outcome("promise", coil_promise_await(promise));
    trace("done: %d", coil_promise_done(promise));
    coil_promise_release(promise);
    return 0;
}

static int promise_of_a_spawn_has_its_result_body(void *arg)
{
    int rc;

    (void)arg;
    trace("begins");
    rc = coil_sleep(COIL_SEC(2));
    trace("ends");
    return rc < 0 ? rc : 7;
}

/*
 * A task that is started from another thread begins two turns later, and its promise gets
 * its result.
 */
SCENARIO(promise_of_a_spawn_has_its_result)
{
    coil_promise *promise;
    int rc;

    start(ticker, TURNS(3));
    rc =
        coil_spawn_threadsafe(coil_loop_current(), promise_of_a_spawn_has_its_result_body,
                              NULL, NULL, &promise);
    if (rc < 0)
        return rc;
    trace("asked");
    trace_outcome("promise", coil_promise_await(promise));
    coil_promise_release(promise);
    return 0;
}

static int promise_of_a_spawn_within_body(void *arg)
{
    (void)arg;
    return trace_outcome("task", coil_sleep(COIL_SEC(9)));
}

static int wait_two_seconds(coil_promise *promise)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(2)));

    if (rc < 0)
        return rc;
    return coil_scope_exit(&scope, coil_promise_await(promise));
}

/* If waiting for the promise of a spawned task times out, the task is cancelled. */
SCENARIO(promise_of_a_spawn_within_a_time_limit)
{
    coil_promise *promise;
    int rc = coil_spawn_threadsafe(coil_loop_current(), promise_of_a_spawn_within_body,
                                   NULL, NULL, &promise);

    if (rc < 0)
        return rc;
    if (wait_two_seconds(promise) == -ETIMEDOUT)
        trace("timed out, cancelled: %d", coil_promise_result(promise) == -ECANCELED);
    turns(3);
    trace("at the end");
    coil_promise_release(promise);
    return 0;
}

/* Awaiting a completed promise also takes two turns. */
SCENARIO(promise_that_is_done_is_waited_for_all_the_same)
{
    coil_promise *promise;
    int rc = coil_promise_create(&promise);

    if (rc < 0)
        return rc;
    coil_promise_set(promise, 6, NULL, NULL);
    start(ticker, TURNS(3));
    trace_outcome("first", coil_promise_await(promise));
    trace_outcome("second", coil_promise_await(promise));
    coil_promise_release(promise);
    return 0;
}

static int promise_wakes_body(void *arg)
{
    struct waiter *waiter = arg;

    return trace_outcome(waiter->name, coil_promise_await(waiter->promise)) == 5
               ? 0
               : -EPROTO;
}

static int set_it(coil_promise *promise)
{
    struct waiter waiters[2] = {{"a", promise}, {"b", promise}};
    coil_task *a = start(promise_wakes_body, &waiters[0]),
              *b = start(promise_wakes_body, &waiters[1]);

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

/*
 * When a promise is set, its waiters continue two turns later, in the order in which they
 * began to wait.
 */
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
