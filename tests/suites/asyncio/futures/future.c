/*
 * future.c - how a future is set, failed, cancelled and awaited.
 */
#include "../scenario.h"

static coil_future *all_kinds_future;

static int all_kinds_body(void *what)
{
    if (strcmp(what, "wait") == 0)
        return trace_outcome(
            what,
            coil_wait(&all_kinds_future, 1, COIL_WAIT_ALL, COIL_NEVER) < 0 ? -EIO : 0);
    if (strcmp(what, "gather") == 0)
        return trace_outcome(what, coil_gather(&all_kinds_future, 1, 0, NULL));
    if (strcmp(what, "shield") == 0)
        return trace_outcome(what, coil_shield(all_kinds_future));
    return trace_outcome(what, coil_await(all_kinds_future));
}

static void all_kinds_callback(coil_future *done, void *arg)
{
    (void)done;
    (void)arg;
    trace("callback");
}

/*
 * Awaiters, shields, gathers, waits and callbacks of a future are served in the order in
 * which they were added. With gather, wait and shield, the task continues one turn later.
 */
SCENARIO(all_kinds_of_waiters_stand_in_one_line)
{
    static char *const whats[] = {"wait", "gather", "shield", "await"};
    coil_future *tasks[5];
    coil_task *task;
    int rc;

    all_kinds_future = new_future();
    for (int i = 0; i < 4; i++) {
        task = start(all_kinds_body, whats[i]);
        if (task == NULL)
            return -ENOMEM;
        tasks[i] = coil_task_future(task);
    }
    turns(1);
    rc = coil_future_add_callback(all_kinds_future, all_kinds_callback, NULL);
    task = start(ticker, TURNS(3));
    coil_future_set(all_kinds_future, 0, NULL, NULL);
    if (rc < 0 || task == NULL)
        return -ENOMEM;
    tasks[4] = coil_task_future(task);
    rc = coil_wait(tasks, 5, COIL_WAIT_ALL, COIL_NEVER);
    return rc < 0 ? rc : 0;
}

/*
 * Setting a result or failure on a cancelled future is an error, and the future stays
 * cancelled.
 */
SCENARIO(cancelled_future_takes_no_result)
{
    coil_future *future = new_future();

    if (future == NULL)
        return -ENOMEM;
    trace("cancel: %d", coil_future_cancel(future, NULL));
    trace("set: %s", outcome(coil_future_set(future, 1, NULL, NULL)));
    trace("fail: %s", outcome(coil_future_set(future, -EIO, NULL, NULL)));
    trace("cancel: %d", coil_future_cancel(future, NULL));
    trace("state: %s", state(future));
    trace("awaited: %s", outcome(coil_await(future)));
    return 0;
}

/* Every call that reads the result of a failed future returns the failure. */
SCENARIO(failed_future_takes_no_result)
{
    coil_future *future = new_future();

    if (future == NULL)
        return -ENOMEM;
    trace("before: %s", state(future));
    trace("fail: %s", outcome(coil_future_set(future, -EIO, NULL, NULL)));
    trace("after: %s, cancelled %d", state(future), coil_future_cancelled(future));
    trace("set: %s", outcome(coil_future_set(future, 1, NULL, NULL)));
    trace("fail: %s", outcome(coil_future_set(future, -ENOENT, NULL, NULL)));
    trace("cancel: %d", coil_future_cancel(future, NULL));
    for (int i = 0; i < 2; i++)
        trace("awaited: %s", outcome(coil_await(future)));
    return 0;
}

static coil_task *failed_task_task;

static int failed_task_body(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1));

    (void)arg;
    return rc < 0 ? rc : -EIO;
}

static int failed_task_waiter(void *i)
{
    trace("waiter %d: %s", (int)(intptr_t)i, outcome(coil_task_await(failed_task_task)));
    return 0;
}

/* All awaiters of a failed task get the same failure, even those that await it later. */
SCENARIO(failed_task_is_awaited_again_and_again)
{
    coil_task *last;

    failed_task_task = start(failed_task_body, NULL);
    start(failed_task_waiter, (void *)(intptr_t)0);
    last = start(failed_task_waiter, (void *)(intptr_t)1);
    if (last == NULL)
        return -ENOMEM;
    for (int i = 0; i < 3; i++)
        trace("awaited: %s", outcome(coil_task_await(failed_task_task)));
    return coil_task_await(last);
}

static int failure_awaited_body(void *arg)
{
    (void)arg;
    return coil_fail(-EIO, "always the same");
}

/*
 * If a failed task is awaited several times, the traceback of each await does not contain
 * the other awaits.
 */
SCENARIO(failure_awaited_again_has_the_same_traceback)
{
    coil_task *task = start(failure_awaited_body, NULL);

    if (task == NULL)
        return -ENOMEM;
    for (int i = 0; i < 5; i++) {
        int rc = coil_task_await(task), awaits = 0;
        const coil_error *error = coil_last_error();

        if (error == NULL)
            return -ENOMEM;
        while ((error = coil_error_cause(error)) != NULL)
            awaits++;
        trace("%d: %s, awaits: %d", i, outcome(rc), awaits);
    }
    return 0;
}

/* A new future is pending. Cancelling a future takes effect before the call returns. */
SCENARIO(future_begins_pending_and_is_cancelled_at_once)
{
    coil_future *future = new_future();

    if (future == NULL)
        return -ENOMEM;
    trace("done %d, cancelled %d", coil_future_done(future),
          coil_future_cancelled(future));
    trace("cancel: %d", coil_future_cancel(future, NULL));
    trace("done %d, cancelled %d", coil_future_done(future),
          coil_future_cancelled(future));
    trace("awaited: %s", outcome(coil_await(future)));
    return 0;
}

/*
 * A failed future is reported when it is released, unless its failure was retrieved or
 * the future was cancelled after it had failed.
 */
SCENARIO(future_failure_is_not_reported_after_cancel)
{
    static const char *const hows[] = {"dropped", "retrieved", "cancelled"};

    coil_set_exception_handler(trace_exception, NULL);
    for (int i = 0; i < 3; i++) {
        coil_future *future;
        int rc = coil_future_create(&future);

        if (rc < 0)
            return rc;
        trace("%s", hows[i]);
        coil_future_set(future, -EIO, NULL, NULL);
        if (i == 1)
            trace("exception: %s", outcome(coil_future_result(future)));
        if (i == 2)
            trace("cancel: %d", coil_future_cancel(future, NULL));
        coil_future_release(future);
    }
    return 0;
}

static int future_is_awaited_body(void *future)
{
    trace_outcome("first", coil_await(future));
    trace_outcome("second", coil_await(future));
    return 3;
}

/* If a task awaits the same future twice, it suspends only the first time. */
SCENARIO(future_is_awaited_twice_and_waits_once)
{
    coil_future *future = new_future();
    coil_task *task = start(future_is_awaited_body, future),
              *ticks = start(ticker, TURNS(4));

    if (ticks == NULL)
        return -ENOMEM;
    turns(2);
    coil_future_set(future, 42, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return coil_task_await(ticks);
}

static void future_is_made_callback(coil_future *future, void *arg)
{
    (void)arg;
    trace("callback: %s", state(future));
}

static void future_is_made_set(void *future)
{
    coil_future_set(future, 5, NULL, NULL);
}

static int prepare(coil_future *future)
{
    int rc = future != NULL
                 ? coil_future_add_callback(future, future_is_made_callback, NULL)
                 : -ENOMEM;

    if (rc < 0)
        return rc;
    rc = coil_call_later(COIL_SEC(2), future_is_made_set, future, NULL);
    if (rc < 0)
        coil_future_remove_callback(future, future_is_made_callback, NULL);
    return rc;
}

/* A future may be created, and callbacks may be added, before the loop runs. */
PLAIN_SCENARIO(future_is_made_before_its_loop_runs)
{
    coil_loop_opts opts = {.virtual_clock = true};
    coil_future *future;
    coil_loop *loop;
    int rc = coil_loop_create(&opts, &loop);

    if (rc < 0)
        return rc;
    future = new_future();
    rc = prepare(future);
    if (rc == 0) {
        trace("before: %s", state(future));
        trace("result: %d", coil_run_until_complete(future));
        trace("again: %d", coil_run_until_complete(future));
    }
    coil_loop_close(loop);
    if (rc == 0)
        trace("after: %s", state(future));
    return rc;
}

static int future_keeps_body(void *future)
{
    int rc = coil_await(future);

    if (rc == -ECANCELED)
        trace("cancelled: %s", coil_future_cancel_reason(future));
    return rc;
}

/*
 * The awaiter of a cancelled future can read the reason. A second cancel does not change
 * the reason.
 */
SCENARIO(future_keeps_the_reason_of_its_cancellation)
{
    coil_future *future = new_future();
    coil_task *task = start(future_keeps_body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_future_cancel(future, "nobody asked"));
    trace("cancel: %d", coil_future_cancel(future, "another reason"));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("future: %s", state(future));
    return 0;
}

/* A future's result is available as soon as it is set, and cannot be changed. */
SCENARIO(future_with_a_result_takes_no_other)
{
    coil_future *future = new_future();

    if (future == NULL)
        return -ENOMEM;
    trace("before: %s", state(future));
    trace("set: %s", outcome(coil_future_set(future, 42, NULL, NULL)));
    trace("after: %s, cancelled %d", state(future), coil_future_cancelled(future));
    trace("set: %s", outcome(coil_future_set(future, 43, NULL, NULL)));
    trace("fail: %s", outcome(coil_future_set(future, -EIO, NULL, NULL)));
    trace("cancel: %d", coil_future_cancel(future, NULL));
    trace("awaited: %s", outcome(coil_await(future)));
    return 0;
}

static coil_future *futures[4];

static int futures_wake_waiter(void *arg)
{
    int i = (int)(intptr_t)arg;

    trace("waiter %d: %s", i, outcome(coil_await(futures[i])));
    return 0;
}

/*
 * If several futures are set in one turn, their awaiters continue in the order in which
 * the futures were set.
 */
SCENARIO(futures_wake_in_the_order_in_which_they_are_set)
{
    static const int order[] = {2, 0, 3, 1};
    coil_future *tasks[4];

    for (int i = 0; i < 4; i++)
        futures[i] = new_future();
    for (int i = 0; i < 4; i++) {
        coil_task *task = start(futures_wake_waiter, (void *)(intptr_t)i);

        if (task == NULL)
            return -ENOMEM;
        tasks[i] = coil_task_future(task);
    }
    turns(1);
    for (int i = 0; i < 4; i++) {
        coil_future_set(futures[order[i]], order[i] == 3 ? -ECANCELED : order[i], NULL,
                        NULL);
        trace("%d is done", order[i]);
    }
    coil_wait(tasks, 4, COIL_WAIT_ALL, COIL_NEVER);
    return 0;
}

static int one_of_two_waiter(void *name)
{
    int rc = trace_outcome(name, coil_await(all_kinds_future));

    trace("counted: %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

/*
 * If two tasks await the same future, cancelling one task cancels the future, and thus
 * also the other task.
 */
SCENARIO(one_of_two_awaiters_is_cancelled)
{
    coil_task *first, *second;

    all_kinds_future = new_future();
    first = start(one_of_two_waiter, "waiter 0");
    second = start(one_of_two_waiter, "waiter 1");
    if (second == NULL)
        return -ENOMEM;
    coil_future *tasks[] = {coil_task_future(first), coil_task_future(second)};
    turns(2);
    trace("cancel: %d", coil_task_cancel(second, NULL));
    trace("future %s, tasks %s %s", state(all_kinds_future), state(tasks[0]),
          state(tasks[1]));
    trace("cancel the future: %d", coil_future_cancel(all_kinds_future, NULL));
    coil_wait(tasks, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("future %s, tasks %s %s", state(all_kinds_future), state(tasks[0]),
          state(tasks[1]));
    return 0;
}

static void result_that_comes_set(void *future)
{
    trace("timer sets: %s", outcome(coil_future_set(future, 2, NULL, NULL)));
}

static int result_that_comes_body(void *future)
{
    return trace_outcome("task", coil_await(future));
}

/*
 * A timer callback does not set its future if the future was cancelled in the meantime.
 */
SCENARIO(result_that_comes_after_cancel_is_refused)
{
    coil_future *future = new_future();
    coil_task *task = start(result_that_comes_body, future);

    if (task == NULL ||
        coil_call_later(COIL_SEC(2), result_that_comes_set, future, NULL) < 0)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    coil_sleep(COIL_SEC(2));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    return 0;
}
