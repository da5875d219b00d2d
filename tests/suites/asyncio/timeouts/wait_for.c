/*
 * wait_for.c - wait_for(): await a task or a future with a time limit.
 */
#include "../scenario.h"

static int worker(void *arg)
{
    int rc = trace_outcome("worker", coil_sleep(COIL_SEC(3)));

    (void)arg;
    return rc < 0 ? rc : 5;
}

static int shield_for(coil_future *future, int64_t deadline)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, deadline);

    return rc < 0 ? rc : coil_scope_exit(&scope, coil_shield(future));
}

/*
 * With a timeout of 0, a shielded task that has not begun is not cancelled, and still
 * runs.
 */
SCENARIO(wait_for_a_shield_for_no_time_leaves_the_task_alone)
{
    coil_task *task = start(worker, NULL);

    if (task == NULL)
        return -ENOMEM;
    start(ticker, TURNS(4));
    trace_outcome("wait_for", shield_for(coil_task_future(task), coil_in(0)));
    trace("task %s, cancelling %d", state(coil_task_future(task)),
          coil_task_cancelling(task));
    trace_outcome("task", coil_task_await(task));
    return 0;
}

/* When the deadline passes, the wait for a shielded task ends, and the task continues. */
SCENARIO(wait_for_a_shield_that_times_out_leaves_the_task_alone)
{
    coil_task *task = start(worker, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace_outcome("wait_for", shield_for(coil_task_future(task), coil_in(COIL_SEC(1))));
    trace("task %s, cancelling %d", state(coil_task_future(task)),
          coil_task_cancelling(task));
    trace_outcome("task", coil_task_await(task));
    return 0;
}

/* Without a deadline, wait_for() waits until a shielded task has ended. */
SCENARIO(wait_for_a_shield_without_a_deadline_awaits)
{
    coil_task *task = start(worker, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace_outcome("wait_for", shield_for(coil_task_future(task), COIL_NEVER));
    trace("task %s, cancelling %d", state(coil_task_future(task)),
          coil_task_cancelling(task));
    trace_outcome("task", coil_task_await(task));
    return 0;
}

static int wait_for_cancelled_as_the_task_inner(void *arg)
{
    (void)arg;
    coil_yield();
    trace("inner ends");
    return 3;
}

static int wait_and_go_on(void *future)
{
    int rc = trace_outcome("wait_for", coil_wait_for(future, coil_in(COIL_SEC(100))));

    if (rc >= 0)
        trace("never printed");
    return rc < 0 ? rc : 0;
}

/*
 * If the waiter is cancelled after the task has ended and before the waiter continues,
 * the waiter gets the cancellation, and the task is done.
 */
SCENARIO(wait_for_cancelled_as_the_task_ends_is_cancelled)
{
    coil_future *future = new_future();
    coil_task *task = start(wait_for_cancelled_as_the_task_inner, NULL), *waiter,
              *waiting;

    if (task == NULL)
        return -ENOMEM;
    waiter = start(wait_and_go_on, coil_task_future(task));
    waiting = start(wait_and_go_on, future);
    if (waiting == NULL)
        return -ENOMEM;
    turns(2);
    trace("task %s, waiter %s", state(coil_task_future(task)),
          state(coil_task_future(waiter)));
    trace("cancel: %d", coil_task_cancel(waiter, NULL));
    trace("cancel: %d", coil_task_cancel(waiting, NULL));
    trace_outcome("waiter", coil_task_await(waiter));
    trace_outcome("waiting", coil_task_await(waiting));
    trace("task: %s", state(coil_task_future(task)));
    return 0;
}

static int stubborn(void *arg)
{
    int rc = 0;

    (void)arg;
    while (coil_now() < COIL_SEC(4) && rc == 0) {
        rc = coil_sleep_until(COIL_SEC(4));
        if (rc == -ECANCELED) {
            coil_cancel_caught();
            trace("does not listen");
            rc = 0;
        }
    }
    trace("ends");
    return rc < 0 ? rc : 7;
}

static int waiter(void *inner)
{
    return coil_wait_for(coil_task_future(inner), coil_in(COIL_SEC(8)));
}

/*
 * Cancelling the waiter cancels the awaited task. If the task ignores the cancellation,
 * the waiter gets the result when the task has ended.
 */
SCENARIO(wait_for_cancelled_waits_for_what_does_not_listen)
{
    coil_task *inner = start(stubborn, NULL);
    coil_task *task = start(waiter, inner);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace_outcome("waiter", coil_task_await(task));
    trace("inner: %s", state(coil_task_future(inner)));
    return 0;
}

static int sleeper(void *arg)
{
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    trace_outcome("sleep", rc == 0 ? 7 : rc);
    trace("ends");
    return rc == 0 ? 7 : rc;
}

/*
 * When the deadline passes, the task is cancelled. wait_for() returns -ETIMEDOUT only
 * after the task has ended.
 */
SCENARIO(wait_for_cancels_a_task_at_the_deadline)
{
    coil_task *task = start(sleeper, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace_outcome("wait_for",
                  coil_wait_for(coil_task_future(task), coil_in(COIL_SEC(2))));
    trace("task: %s", state(coil_task_future(task)));
    trace("cancelling %d and %d", coil_task_cancelling(task),
          coil_task_cancelling(coil_task_current()));
    trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}

static void set_to_five(void *future)
{
    coil_future_set(future, 5, NULL, NULL);
}

/* A future that is set in time wakes the waiter in the next turn. */
SCENARIO(wait_for_goes_on_as_soon_as_the_future_is_set)
{
    coil_future *future = new_future();
    int rc;

    if (future == NULL)
        return -ENOMEM;
    rc = coil_call_soon(set_to_five, future, NULL);
    if (rc < 0)
        return rc;
    start(ticker, TURNS(3));
    trace_outcome("wait_for", coil_wait_for(future, coil_in(COIL_SEC(2))));
    trace_outcome("sleep", coil_sleep(COIL_SEC(3)));
    return 0;
}

static int failing(void *arg)
{
    trace_outcome("sleep", coil_sleep(COIL_SEC(10)));
    (void)arg;
    return -EIO;
}

/*
 * If a task fails when it is cancelled at the deadline, wait_for() returns its failure.
 */
SCENARIO(wait_for_hands_on_what_a_cancelled_task_fails_with)
{
    for (int delay = 2; delay >= 0; delay -= 2) {
        coil_task *task = start(failing, NULL);

        if (task == NULL)
            return -ENOMEM;
        turns(1);
        trace_outcome("wait_for",
                      coil_wait_for(coil_task_future(task), coil_in(COIL_SEC(delay))));
    }
    return 0;
}

static int never(void *arg)
{
    (void)arg;
    trace("never printed");
    return 0;
}

/* With a timeout of 0, a task that has not begun never begins. */
SCENARIO(wait_for_no_time_begins_no_task)
{
    coil_task *task;

    start(ticker, TURNS(5));
    task = start(never, NULL);
    if (task == NULL)
        return -ENOMEM;
    trace_outcome("wait_for", coil_wait_for(coil_task_future(task), coil_in(0)));
    return 0;
}

/* With a timeout of 0, a running task is cancelled and awaited. */
SCENARIO(wait_for_no_time_cancels_what_runs)
{
    for (int delay = 0; delay >= -1; delay--) {
        coil_task *task = start(sleeper, NULL);

        if (task == NULL)
            return -ENOMEM;
        turns(1);
        start(ticker, TURNS(4));
        trace_outcome("wait_for", coil_wait_for(coil_task_future(task), coil_in(delay)));
        trace("task: %s", state(coil_task_future(task)));
        turns(2);
    }
    return 0;
}

/*
 * With a timeout of 0, an available result is returned without a turn, and a pending
 * future is cancelled.
 */
SCENARIO(wait_for_no_time_takes_what_is_done)
{
    coil_future *futures[2];

    start(ticker, TURNS(4));
    futures[0] = new_future();
    futures[1] = new_future();
    if (futures[1] == NULL)
        return -ENOMEM;
    coil_future_set(futures[0], 5, NULL, NULL);
    for (int i = 0; i < 4; i++) {
        trace_outcome("wait_for", coil_wait_for(futures[i / 2], coil_in(-(i % 2))));
        trace("future: %s", state(futures[i / 2]));
    }
    return 0;
}

/*
 * If a task ignores the cancellation at the deadline, wait_for() waits for it, and
 * returns its result instead of a timeout.
 */
SCENARIO(wait_for_takes_the_result_of_what_does_not_listen)
{
    coil_task *inner = start(stubborn, NULL);

    if (inner == NULL)
        return -ENOMEM;
    trace_outcome("wait_for",
                  coil_wait_for(coil_task_future(inner), coil_in(COIL_SEC(2))));
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    return 0;
}

static int catcher(void *arg)
{
    (void)arg;
    trace_outcome("sleep", coil_sleep(COIL_SEC(10)));
    coil_cancel_caught();
    return 1;
}

/*
 * If a task catches the cancellation at the deadline and returns a value, wait_for()
 * returns that value, even if the deadline had passed before the call.
 */
SCENARIO(wait_for_takes_what_a_cancelled_task_returns)
{
    for (int delay = 2; delay >= 0; delay -= 2) {
        coil_task *task = start(catcher, NULL);

        if (task == NULL)
            return -ENOMEM;
        turns(1);
        trace_outcome("wait_for",
                      coil_wait_for(coil_task_future(task), coil_in(COIL_SEC(delay))));
    }
    return 0;
}

static coil_task *wait_for_that_is_cancelled_inner;

static int wait_for_it(void *deadline)
{
    return coil_wait_for(coil_task_future(wait_for_that_is_cancelled_inner),
                         *(int64_t *)deadline);
}

static void cancel_it(void *task)
{
    coil_task_cancel(task, NULL);
}

/* Cancelling the waiter cancels the task, with or without a deadline. */
SCENARIO(wait_for_that_is_cancelled_cancels_the_task)
{
    int64_t deadlines[] = {COIL_NEVER, COIL_SEC(60)};

    for (int i = 0; i < 2; i++) {
        coil_task *waiter;
        int rc;

        wait_for_that_is_cancelled_inner = start(sleeper, NULL);
        waiter = start(wait_for_it, &deadlines[i]);
        if (waiter == NULL)
            return -ENOMEM;
        rc = coil_call_soon(cancel_it, waiter, NULL);
        if (rc < 0)
            coil_task_cancel(waiter, NULL);
        start(ticker, TURNS(4));
        trace_outcome("waiter", coil_task_await(waiter));
        trace("task: %s", state(coil_task_future(wait_for_that_is_cancelled_inner)));
        turns(4);
    }
    return 0;
}

static int slow(void *arg)
{
    int rc = trace_outcome("sleep", coil_sleep(COIL_SEC(10)));

    (void)arg;
    coil_cancel_caught();
    if (rc == -ECANCELED)
        trace_outcome("cleanup", coil_sleep(COIL_SEC(3)));
    return rc;
}

/*
 * When the timeout has passed, even a timeout of 0, wait_for() waits for a cancelled task
 * that takes time to end.
 */
SCENARIO(wait_for_waits_while_a_cancelled_task_cleans_up)
{
    for (int delay = 2; delay >= 0; delay -= 2) {
        coil_task *task = start(slow, NULL);

        if (task == NULL)
            return -ENOMEM;
        turns(1);
        trace_outcome("wait_for",
                      coil_wait_for(coil_task_future(task), coil_in(COIL_SEC(delay))));
        trace("task: %s", state(coil_task_future(task)));
    }
    return 0;
}

/* Without a deadline, wait_for() is equivalent to await. */
SCENARIO(wait_for_without_a_deadline_only_awaits)
{
    coil_task *task = start(sleeper, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace_outcome("wait_for", coil_wait_for(coil_task_future(task), COIL_NEVER));
    return 0;
}
