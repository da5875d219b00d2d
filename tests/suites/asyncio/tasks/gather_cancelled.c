/*
 * gather_cancelled.c - cancelling the futures of a gather, and the gathering task.
 */
#include "tasks.h"

static coil_future *cancel_reaches_future, *cancel_reaches_futures[2];

static int inner(void *name)
{
    return trace_outcome(name, coil_await(cancel_reaches_future));
}

static int cancel_reaches_outer(void *arg)
{
    (void)arg;
    return trace_outcome("outer", coil_gather(cancel_reaches_futures, 2, 0, NULL));
}

/*
 * Cancelling a gathering task cancels all gathered tasks, in order, and the future that
 * they await.
 */
SCENARIO(cancel_reaches_every_task_of_a_gather)
{
    static char names[2][8] = {"inner 0", "inner 1"};
    coil_task *tasks[2], *task, *ticks;

    cancel_reaches_future = new_future();
    for (int i = 0; i < 2; i++)
        tasks[i] = start(inner, names[i]);
    task = start(cancel_reaches_outer, NULL);
    ticks = start(ticker, TURNS(5));
    if (ticks == NULL)
        return -ENOMEM;
    for (int i = 0; i < 2; i++)
        cancel_reaches_futures[i] = coil_task_future(tasks[i]);
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("future %s, tasks %s %s", state(cancel_reaches_future),
          state(cancel_reaches_futures[0]), state(cancel_reaches_futures[1]));
    trace("counted: %d %d %d", coil_task_cancelling(task), coil_task_cancelling(tasks[0]),
          coil_task_cancelling(tasks[1]));
    trace("outer task: %s", outcome(coil_task_await(task)));
    trace("tasks %s %s", state(cancel_reaches_futures[0]),
          state(cancel_reaches_futures[1]));
    return coil_task_await(ticks);
}

static int cancelled_gather_of_all_is_cancelled_body(void *arg)
{
    int rc = 0;

    (void)arg;
    while (rc == 0) {
        coil_task *task = start(sleeper, SECONDS(2));
        coil_future *future;

        if (task == NULL)
            return -ENOMEM;
        future = coil_task_future(task);
        rc = trace_outcome("gather", coil_gather(&future, 1, COIL_GATHER_ALL, NULL));
    }
    return rc;
}

/*
 * The cancellation of a task that gathers with return_exceptions is not returned among
 * the results, so a task that repeats such a gather can be cancelled.
 */
SCENARIO(cancelled_gather_of_all_is_cancelled)
{
    coil_task *task = start(cancelled_gather_of_all_is_cancelled_body, NULL);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(5));
    coil_task_cancel(task, "enough");
    if (coil_task_await(task) == -ECANCELED)
        trace("cancelled: %s", coil_future_cancel_reason(coil_task_future(task)));
    return 0;
}

static coil_future *cancelled_gather_of_all_waits_futures[2];

static int slow(void *arg)
{
    int i = (int)(intptr_t)arg, rc = coil_sleep(COIL_SEC(10));

    if (rc != -ECANCELED)
        return rc;
    coil_cancel_caught();
    trace("child %d cleans up", i);
    coil_sleep(COIL_SEC(i));
    trace("child %d ends", i);
    return rc;
}

static int cancelled_gather_of_all_waits_body(void *flags)
{
    return trace_outcome("gather", coil_gather(cancelled_gather_of_all_waits_futures, 2,
                                               (unsigned)(uintptr_t)flags, NULL));
}

/*
 * A cancelled gather returns when the first child has ended. With return_exceptions, a
 * cancelled gather returns when the last child has ended.
 */
SCENARIO(cancelled_gather_of_all_waits_for_the_cleanup)
{
    for (uintptr_t flags = 0; flags <= COIL_GATHER_ALL; flags++) {
        coil_task *task;

        for (int i = 0; i < 2; i++) {
            task = start(slow, (void *)(intptr_t)(2 - i));
            if (task == NULL)
                return -ENOMEM;
            cancelled_gather_of_all_waits_futures[i] = coil_task_future(task);
        }
        task = start(cancelled_gather_of_all_waits_body, (void *)flags);
        if (task == NULL)
            return -ENOMEM;
        turns(1);
        coil_task_cancel(task, NULL);
        trace("awaited: %s", outcome(coil_task_await(task)));
        coil_sleep(COIL_SEC(3));
    }
    return 0;
}

static int child(void *arg)
{
    int rc;

    (void)arg;
    trace("child: %s", outcome(coil_sleep(COIL_SEC(10))));
    coil_cancel_caught();
    trace("counted %d", coil_task_cancelling(coil_task_current()));
    rc = trace_outcome("child again", coil_sleep(COIL_SEC(1)));
    return rc < 0 ? rc : 3;
}

static int gather_cancels_body(void *task)
{
    coil_future *twice[] = {coil_task_future(task), coil_task_future(task)};

    return trace_outcome("gather", coil_gather(twice, 2, 0, NULL));
}

/*
 * If a task occurs twice in a cancelled gather, it gets two requests to cancel, but only
 * one cancellation.
 */
SCENARIO(gather_cancels_a_repeated_task_twice)
{
    coil_task *child_task = start(child, NULL),
              *task = start(gather_cancels_body, child_task);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("child: %s", state(coil_task_future(child_task)));
    return 0;
}

static int stubborn(void *arg)
{
    (void)arg;
    trace("stubborn: %s", outcome(coil_sleep(COIL_SEC(10))));
    return -EIO;
}

static int body(void *arg)
{
    (void)arg;
    return trace_outcome("gather",
                         coil_gather(cancelled_gather_of_all_waits_futures, 2, 0, NULL));
}

/*
 * If a gathering task is cancelled and one of its children then fails, the task gets that
 * failure.
 */
SCENARIO(gather_fails_with_a_child_that_fails_when_cancelled)
{
    coil_task *first = start(stubborn, NULL), *second = start(sleeper, SECONDS(10));
    coil_task *task = start(body, NULL);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    cancelled_gather_of_all_waits_futures[0] = coil_task_future(first);
    cancelled_gather_of_all_waits_futures[1] = coil_task_future(second);
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    rc = coil_task_await(task);
    trace("awaited: %s", outcome(rc));
    trace("counted: %d, children %s %s", coil_task_cancelling(task),
          state(cancelled_gather_of_all_waits_futures[0]),
          state(cancelled_gather_of_all_waits_futures[1]));
    return 0;
}

static int failing(void *future)
{
    int rc = coil_await(future);

    return rc < 0 ? rc : -EIO;
}

/*
 * If a child's failure has ended a gather, but the gathering task is cancelled before it
 * runs, the task gets the cancellation, not the failure.
 */
SCENARIO(gather_is_cancelled_as_its_failure_is_under_way)
{
    for (int delay = 1; delay <= 3; delay++) {
        coil_future *future = new_future(), *other = new_future();
        coil_task *child = start(failing, future), *task = start(body, NULL);
        int rc;

        if (task == NULL)
            return -ENOMEM;
        cancelled_gather_of_all_waits_futures[0] = coil_task_future(child);
        cancelled_gather_of_all_waits_futures[1] = other;
        turns(1);
        coil_future_set(future, 0, NULL, NULL);
        turns(delay);
        trace("after %d: child %s, task %s", delay,
              state(cancelled_gather_of_all_waits_futures[0]),
              state(coil_task_future(task)));
        trace("cancel: %d", coil_task_cancel(task, NULL));
        rc = coil_task_await(task);
        trace("awaited: %s, other %s", outcome(rc), state(other));
    }
    return 0;
}

static int deaf(void *arg)
{
    int i = (int)(intptr_t)arg, rc;

    trace("deaf %d: %s", i, outcome(coil_sleep(COIL_SEC(10))));
    coil_cancel_caught();
    rc = coil_sleep(COIL_SEC(i));
    return rc < 0 ? rc : i;
}

static int gather_is_cancelled_though_its_children_body(void *flags)
{
    int rc = coil_gather(cancelled_gather_of_all_waits_futures, 2,
                         (unsigned)(uintptr_t)flags, NULL);

    trace_outcome("gather", rc);
    trace("children: %s %s", state(cancelled_gather_of_all_waits_futures[0]),
          state(cancelled_gather_of_all_waits_futures[1]));
    return rc;
}

/*
 * A gather that is cancelled returns the cancellation, even if all children ignore it and
 * return results.
 */
SCENARIO(gather_is_cancelled_though_its_children_refuse)
{
    for (uintptr_t flags = 0; flags <= COIL_GATHER_ALL; flags++) {
        coil_task *task;

        for (int i = 0; i < 2; i++) {
            task = start(deaf, (void *)(intptr_t)(i + 1));
            if (task == NULL)
                return -ENOMEM;
            cancelled_gather_of_all_waits_futures[i] = coil_task_future(task);
        }
        task = start(gather_is_cancelled_though_its_children_body, (void *)flags);
        if (task == NULL)
            return -ENOMEM;
        coil_sleep(COIL_SEC(1));
        trace("cancel: %d", coil_task_cancel(task, NULL));
        trace("awaited: %s", outcome(coil_task_await(task)));
    }
    return 0;
}

static coil_future *gather_of_all_collects_futures[6];

static int gather_of_all_collects_body(void *arg)
{
    int rcs[6], rc = coil_gather(gather_of_all_collects_futures, 6, COIL_GATHER_ALL, rcs);

    (void)arg;
    if (rc == 0)
        trace("gathered %s %s %s %s %s %s", outcome(rcs[0]), outcome(rcs[1]),
              outcome(rcs[2]), outcome(rcs[3]), outcome(rcs[4]), outcome(rcs[5]));
    return rc;
}

/*
 * With return_exceptions, gather returns cancelled futures among its results, and is not
 * cancelled itself.
 */
SCENARIO(gather_of_all_collects_cancellations)
{
    coil_task *task;

    for (int i = 0; i < 6; i++)
        gather_of_all_collects_futures[i] = new_future();
    task = start(gather_of_all_collects_body, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(gather_of_all_collects_futures[0], 1, NULL, NULL);
    coil_future_set(gather_of_all_collects_futures[1], -EIO, NULL, NULL);
    coil_future_cancel(gather_of_all_collects_futures[2], NULL);
    turns(3);
    trace("task: %s", state(coil_task_future(task)));
    coil_future_set(gather_of_all_collects_futures[3], 3, NULL, NULL);
    coil_future_cancel(gather_of_all_collects_futures[4], NULL);
    coil_future_set(gather_of_all_collects_futures[5], -ENOENT, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

static coil_future *gather_takes_futures[4];

static int gather_takes_body(void *arg)
{
    (void)arg;
    if (trace_outcome("gather", coil_gather(gather_takes_futures, 4, 0, NULL)) ==
        -ECANCELED) {
        coil_cancel_caught();
        trace("counted: %d", coil_task_cancelling(coil_task_current()));
    }
    return trace_outcome("goes on", coil_sleep(COIL_SEC(1)));
}

static void look(void)
{
    trace("futures: %s %s %s %s", state(gather_takes_futures[0]),
          state(gather_takes_futures[1]), state(gather_takes_futures[2]),
          state(gather_takes_futures[3]));
}

/* A cancelled future ends its gather; the other futures are not cancelled. */
SCENARIO(gather_takes_a_cancelled_future_for_a_failure)
{
    coil_task *task;

    for (int i = 0; i < 4; i++)
        gather_takes_futures[i] = new_future();
    task = start(gather_takes_body, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(gather_takes_futures[0], 1, NULL, NULL);
    coil_future_cancel(gather_takes_futures[1], NULL);
    turns(3);
    look();
    coil_future_set(gather_takes_futures[2], 3, NULL, NULL);
    coil_future_set(gather_takes_futures[3], -EIO, NULL, NULL);
    trace("task: %s", outcome(coil_task_await(task)));
    look();
    return 0;
}

static int gather_that_failed_body(void *arg)
{
    (void)arg;
    trace("gather: %s",
          outcome(coil_gather(cancelled_gather_of_all_waits_futures, 2, 0, NULL)));
    return trace_outcome("sleep", coil_sleep(COIL_SEC(5)));
}

/*
 * If a task is cancelled after its gather has failed, only its present wait is cancelled.
 * The other gathered tasks are not cancelled.
 */
SCENARIO(gather_that_failed_cancels_nobody_any_more)
{
    coil_task *first = start(failer, SECONDS(1)), *second = start(sleeper, SECONDS(4));
    coil_task *task = start(gather_that_failed_body, NULL);

    if (task == NULL)
        return -ENOMEM;
    cancelled_gather_of_all_waits_futures[0] = coil_task_future(first);
    cancelled_gather_of_all_waits_futures[1] = coil_task_future(second);
    coil_sleep(COIL_SEC(2));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("sibling: %s, counted %d", state(cancelled_gather_of_all_waits_futures[1]),
          coil_task_cancelling(second));
    trace("sibling: %s", outcome(coil_task_await(second)));
    return 0;
}

struct parts {
    const char *name;
    coil_future *futures[2];
};

static int gatherer(void *arg)
{
    struct parts *parts = arg;

    return trace_outcome(parts->name, coil_gather(parts->futures, 2, 0, NULL));
}

/*
 * Cancelling the outermost of three nested gathers cancels the innermost futures before
 * the call returns.
 */
SCENARIO(gathers_within_gathers_are_cancelled_together)
{
    static struct parts parts[3] = {{.name = "left"}, {.name = "right"}, {.name = "top"}};
    coil_future *futures[4];
    coil_task *tasks[3], *ticks;

    for (int i = 0; i < 4; i++)
        parts[i / 2].futures[i % 2] = futures[i] = new_future();
    for (int i = 0; i < 3; i++) {
        tasks[i] = start(gatherer, &parts[i]);
        if (tasks[i] == NULL)
            return -ENOMEM;
        if (i < 2)
            parts[2].futures[i] = coil_task_future(tasks[i]);
    }
    ticks = start(ticker, TURNS(6));
    if (ticks == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_task_cancel(tasks[2], NULL));
    trace("futures: %s %s %s %s", state(futures[0]), state(futures[1]), state(futures[2]),
          state(futures[3]));
    trace("top: %s", outcome(coil_task_await(tasks[2])));
    trace("left %s, right %s", state(parts[2].futures[0]), state(parts[2].futures[1]));
    return coil_task_await(ticks);
}

static coil_task *task_in_gather_child_task, *task_in_gather_task;

static int task_in_gather_outer(void *arg)
{
    coil_future *future = coil_task_future(task_in_gather_child_task);

    (void)arg;
    return trace_outcome("outer", coil_gather(&future, 1, 0, NULL));
}

static void cancel(coil_future *future, void *arg)
{
    const char *child = state(coil_task_future(task_in_gather_child_task));

    (void)future;
    (void)arg;
    trace("child %s, cancel it: %d", child,
          coil_task_cancel(task_in_gather_child_task, NULL));
    trace("cancel: %d", coil_task_cancel(task_in_gather_task, NULL));
}

/*
 * A gathering task can still be cancelled after all children have ended, as long as
 * gather has not returned.
 */
SCENARIO(task_in_gather_is_cancelled_after_its_children_ended)
{
    coil_future *future = new_future();

    task_in_gather_child_task = start(awaiter, future);
    task_in_gather_task = start(task_in_gather_outer, NULL);
    if (task_in_gather_task == NULL)
        return -ENOMEM;
    turns(1);
    if (coil_future_add_callback(future, cancel, NULL) < 0)
        return -ENOMEM;
    coil_future_set(future, 42, NULL, NULL);
    trace("outer task: %s", outcome(coil_task_await(task_in_gather_task)));
    trace("child %s", state(coil_task_future(task_in_gather_child_task)));
    return 0;
}
