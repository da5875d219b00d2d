/*
 * callback.c - when and in which order a future's callbacks are called, and how they are
 * removed.
 */
#include "futures.h"

static coil_future *callback_cancels_future;
static coil_task *tasks[2];

static int callback_cancels_waiter(void *name)
{
    int rc = trace_outcome(name, coil_await(callback_cancels_future));

    trace("counted: %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

static void cancel_both(coil_future *done, void *arg)
{
    bool first = coil_task_cancel(tasks[0], NULL);

    (void)done;
    (void)arg;
    trace("cancel: %d %d", first, tasks[1] != NULL && coil_task_cancel(tasks[1], NULL));
}

/*
 * A callback runs between the two tasks that await a future. The callback can cancel the
 * second task, which is already ready, but not the first, which has ended.
 */
SCENARIO(callback_cancels_a_task_that_is_ready)
{
    int rc;

    callback_cancels_future = new_future();
    tasks[0] = start(callback_cancels_waiter, "waiter 0");
    if (tasks[0] == NULL)
        return -ENOMEM;
    turns(1);
    rc = coil_future_add_callback(callback_cancels_future, cancel_both, NULL);
    tasks[1] = start(callback_cancels_waiter, "waiter 1");
    turns(1);
    coil_future_set(callback_cancels_future, 0, NULL, NULL);
    if (rc < 0 || tasks[1] == NULL)
        return -ENOMEM;
    coil_future *both[] = {coil_task_future(tasks[0]), coil_task_future(tasks[1])};
    coil_wait(both, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("tasks: %s %s", state(both[0]), state(both[1]));
    return 0;
}

static void second(coil_future *future, void *arg)
{
    (void)future;
    (void)arg;
    trace("second");
}

static void first(coil_future *future, void *arg)
{
    (void)arg;
    trace("first removes %d", coil_future_remove_callback(future, second, NULL));
}

/*
 * When a future is done, all its callbacks move to the ready queue, so none of them can
 * remove a later one.
 */
SCENARIO(callback_cannot_remove_what_is_ready)
{
    coil_future *future = new_future();
    int rc = future != NULL ? coil_future_add_callback(future, first, NULL) : -ENOMEM;

    for (int i = 0; rc == 0 && i < 2; i++)
        rc = coil_future_add_callback(future, second, NULL);
    if (future == NULL)
        return rc;
    coil_future_set(future, 1, NULL, NULL);
    trace("set; removed %d", coil_future_remove_callback(future, second, NULL));
    turns(1);
    trace("one turn later");
    return rc;
}

static void copy(coil_future *source, void *target)
{
    coil_future_set(target, coil_future_result(source), NULL, NULL);
    trace("copied: %s", state(target));
}

/* A callback passes a result, a failure or a cancellation from one future to the next. */
SCENARIO(callback_copies_its_future_to_another)
{
    static const int rcs[] = {10, -EIO, -ECANCELED};

    for (int i = 0; i < 3; i++) {
        coil_future *source = new_future(), *target = new_future();

        if (target == NULL || coil_future_add_callback(source, copy, target) < 0)
            return -ENOMEM;
        coil_future_set(source, rcs[i], NULL, NULL);
        trace("source %s, target %s", state(source), state(target));
        trace("target: %s", outcome(coil_await(target)));
    }
    return 0;
}

static int add(coil_future *future, int i)
{
    return coil_future_add_callback(future, callback, NUMBER(i));
}

static int remove_all(coil_future *future, int i)
{
    return coil_future_remove_callback(future, callback, NUMBER(i));
}

static int add_and_remove(coil_future *future)
{
    int rc = add(future, 1);

    if (rc == 0)
        rc = add(future, 2);
    if (rc < 0)
        return rc;
    trace("removed %d", remove_all(future, 2));
    trace("removed %d", remove_all(future, 3));
    rc = add(future, 2);
    for (int i = 0; rc == 0 && i < 5; i++)
        rc = add(future, 1);
    return rc;
}

/*
 * If a callback was added several times, one call removes it completely, and returns how
 * many times it was added.
 */
SCENARIO(callback_is_removed_as_often_as_it_was_added)
{
    coil_future *future = new_future();
    int rc = future != NULL ? add_and_remove(future) : -ENOMEM;

    if (future == NULL)
        return rc;
    trace("removed %d", remove_all(future, 1));
    coil_future_set(future, 1, NULL, NULL);
    turns(1);
    trace("removed %d", remove_all(future, 2));
    return rc;
}

static void later_still(coil_future *future, void *arg)
{
    (void)future;
    (void)arg;
    trace("later still");
}

static void late(coil_future *future, void *arg)
{
    (void)arg;
    trace("late: %s", state(future));
    coil_future_add_callback(future, later_still, NULL);
    trace("added another");
}

/*
 * A callback that is added to a completed future is called in the next turn, not at once.
 */
SCENARIO(callback_that_is_added_late_is_called_in_the_next_turn)
{
    coil_future *future = new_future();
    coil_task *ticks = start(ticker, TURNS(3));

    if (ticks == NULL)
        return -ENOMEM;
    coil_future_set(future, 4, NULL, NULL);
    if (coil_future_add_callback(future, late, NULL) < 0)
        return -ENOMEM;
    trace("added");
    return coil_task_await(ticks);
}

/*
 * A removed callback is not called. A second removal of the same callback removes
 * nothing.
 */
SCENARIO(callback_that_was_first_is_removed)
{
    coil_future *future = new_future();

    if (future == NULL || add_callbacks(future, 3) < 0)
        return -ENOMEM;
    trace("removed %d", coil_future_remove_callback(future, callback, NUMBER(0)));
    trace("removed %d", coil_future_remove_callback(future, callback, NUMBER(0)));
    coil_future_set(future, 1, NULL, NULL);
    trace("set");
    turns(1);
    trace("state: %s", state(future));
    return 0;
}

/*
 * If the last of three callbacks is removed, the first two are called, and so is a
 * callback that is added later.
 */
SCENARIO(callback_that_was_last_is_removed)
{
    coil_future *future = new_future();

    if (future == NULL || add_callbacks(future, 3) < 0)
        return -ENOMEM;
    trace("removed %d", coil_future_remove_callback(future, callback, NUMBER(2)));
    trace("removed %d", coil_future_remove_callback(future, callback, NUMBER(2)));
    if (coil_future_add_callback(future, callback, NUMBER(3)) < 0) {
        coil_future_cancel(future, NULL);
        return -ENOMEM;
    }
    coil_future_cancel(future, NULL);
    turns(1);
    trace("state: %s", state(future));
    return 0;
}

static int callbacks_and_awaiters_waiter(void *name)
{
    trace_outcome(name, coil_await(callback_cancels_future));
    return 0;
}

static void callbacks_and_awaiters_callback(coil_future *done, void *name)
{
    (void)done;
    trace("%s", (char *)name);
}

/*
 * The awaiters and callbacks of a future share one queue, and are served in the order in
 * which they were added.
 */
SCENARIO(callbacks_and_awaiters_keep_their_order)
{
    coil_task *first, *second = NULL;
    int rc;

    callback_cancels_future = new_future();
    first = start(callbacks_and_awaiters_waiter, "first task");
    if (first == NULL)
        return -ENOMEM;
    turns(1);
    rc = coil_future_add_callback(callback_cancels_future,
                                  callbacks_and_awaiters_callback, "first callback");
    if (rc == 0)
        second = start(callbacks_and_awaiters_waiter, "second task");
    turns(1);
    if (second != NULL)
        rc = coil_future_add_callback(callback_cancels_future,
                                      callbacks_and_awaiters_callback, "second callback");
    coil_sleep(COIL_SEC(1));
    coil_future_set(callback_cancels_future, 3, NULL, NULL);
    coil_task_await(first);
    return second != NULL ? coil_task_await(second) : rc;
}

static void look(coil_future *future, void *arg)
{
    (void)arg;
    trace("sees %s", state(future));
}

static void glance(coil_future *future, void *arg)
{
    (void)arg;
    trace("sees it is done: %d", coil_future_done(future));
}

/* A future that fails calls its callbacks, which may ignore the failure. */
SCENARIO(callbacks_are_called_for_a_failure)
{
    coil_future *future = new_future();
    int rc = future != NULL ? coil_future_add_callback(future, look, NULL) : -ENOMEM;

    if (rc == 0)
        rc = coil_future_add_callback(future, glance, NULL);
    if (rc == 0)
        coil_sleep(COIL_SEC(1));
    if (future != NULL)
        coil_future_set(future, -EIO, NULL, NULL);
    if (rc < 0)
        return rc;
    trace("failed");
    coil_sleep(COIL_SEC(1));
    trace("future: %s", state(future));
    return 0;
}

static void trace_state(coil_future *future, void *i)
{
    trace("callback %d: %s", (int)(intptr_t)i, state(future));
}

/*
 * When a result is set, the callbacks are not called at once. The loop calls them in the
 * next turn, in the order in which they were added.
 */
SCENARIO(callbacks_are_called_in_the_next_turn)
{
    coil_future *future = new_future();
    coil_task *ticks = start(ticker, TURNS(2));

    if (ticks == NULL || add_each(future, trace_state, 3) < 0)
        return -ENOMEM;
    coil_future_set(future, 17, NULL, NULL);
    trace("set");
    turns(1);
    trace("one turn later");
    return coil_task_await(ticks);
}

/* If the first two of three callbacks are removed, only the third is called. */
SCENARIO(callbacks_that_were_first_and_second_are_removed)
{
    static const int order[] = {0, 1, 0};
    coil_future *future = new_future();

    if (future == NULL || add_callbacks(future, 3) < 0)
        return -ENOMEM;
    for (int i = 0; i < 3; i++)
        trace("removed %d",
              coil_future_remove_callback(future, callback, NUMBER(order[i])));
    coil_future_set(future, 1, NULL, NULL);
    turns(1);
    trace("state: %s", state(future));
    return 0;
}
