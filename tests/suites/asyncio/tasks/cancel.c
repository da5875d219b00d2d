/*
 * cancel.c - which tasks and futures a cancellation reaches, and its reason.
 */
#include "tasks.h"

static int cancel_beats_body(void *future)
{
    return trace_outcome("first", coil_await(future));
}

/*
 * If a future is set, and its awaiter is cancelled before it runs, the awaiter does not
 * get the result.
 */
SCENARIO(cancel_beats_a_result_not_yet_taken)
{
    coil_future *future = new_future();
    coil_task *task = start(cancel_beats_body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(future, 5, NULL, NULL);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("future %s", state(future));
    return 0;
}

static void cancel(void *task)
{
    coil_task_cancel(task, NULL);
}

/*
 * If a timer cancels a task during a long sleep, the task that awaits the sleeping task
 * continues at once.
 */
SCENARIO(cancel_by_a_timer_ends_a_long_sleep)
{
    coil_task *task = start(sleeper, SECONDS(5000));
    int rc;

    if (task == NULL || coil_call_later(COIL_SEC(1), cancel, task, NULL) < 0)
        return -ENOMEM;
    rc = coil_task_await(task);
    trace("awaited: %s, counted %d", outcome(rc),
          coil_task_cancelling(coil_task_current()));
    coil_sleep(COIL_SEC(1));
    trace("goes on");
    return 0;
}

static int cancel_ends_body(void *arg)
{
    (void)arg;
    trace("sleeps");
    return trace_outcome("slept", coil_sleep(COIL_SEC(10)));
}

/*
 * If a callback cancels a sleeping task, the task ends in the next turn, not when its
 * sleep would end.
 */
SCENARIO(cancel_ends_a_sleep_at_once)
{
    coil_task *task = start(cancel_ends_body, NULL);

    if (task == NULL || coil_call_soon(cancel, task, NULL) < 0)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("state: %s", state(coil_task_future(task)));
    trace("cancel again: %d", coil_task_cancel(task, NULL));
    return 0;
}

static int deaf(void *arg)
{
    int rc;

    (void)arg;
    trace("deaf: %s", outcome(coil_sleep(COIL_SEC(10))));
    coil_cancel_caught();
    rc = coil_sleep(COIL_SEC(2));
    return rc < 0 ? rc : 5;
}

static int cancel_is_swallowed_body(void *task)
{
    int rc = trace_outcome("awaited", coil_task_await(task));

    if (rc < 0)
        return rc;
    trace("counted: %d", coil_task_cancelling(coil_task_current()));
    return trace_outcome("waits on", coil_sleep(COIL_SEC(1)));
}

/*
 * Cancelling a task cancels the task that it awaits. If the awaited task ignores the
 * cancellation, neither of them is cancelled.
 */
SCENARIO(cancel_is_swallowed_by_the_awaited_task)
{
    coil_task *inner = start(deaf, NULL), *task = start(cancel_is_swallowed_body, inner);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("task: %s", outcome(coil_task_await(task)));
    trace("counted: %d %d", coil_task_cancelling(task), coil_task_cancelling(inner));
    return 0;
}

static int inner(coil_future *future)
{
    return trace_outcome("inner", coil_await(future));
}

static int outer(void *future)
{
    if (trace_outcome("outer", inner(future)) == -ECANCELED) {
        coil_cancel_caught();
        trace("outer catches it");
    }
    return 101;
}

/*
 * A cancellation is passed to the future that the innermost call awaits, and is returned
 * by all nested calls.
 */
SCENARIO(cancel_passes_through_nested_calls_to_the_future)
{
    coil_future *future = new_future();
    coil_task *task = start(outer, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(task, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("future: %s, counted %d", state(future), coil_task_cancelling(task));
    return 0;
}

static int cancel_reaches_body(void *arg)
{
    int rc = trace_outcome("first", coil_yield());

    (void)arg;
    return rc < 0 ? rc : trace_outcome("second", coil_yield());
}

/* A task that is cancelled while it yields gets the cancellation from that yield. */
SCENARIO(cancel_reaches_a_task_that_yields)
{
    coil_task *task = start(cancel_reaches_body, NULL), *ticks;

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    ticks = start(ticker, TURNS(2));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    return ticks != NULL ? coil_task_await(ticks) : -ENOMEM;
}

static int awaiting(void *future)
{
    return trace_outcome("awaiting", coil_await(future));
}

static int gathering(void *arg)
{
    coil_future *future = arg;

    return trace_outcome("gathering", coil_gather(&future, 1, 0, NULL));
}

/*
 * If a future is cancelled, the tasks that await it are cancelled, and their awaiters get
 * the reason, even through gather.
 */
SCENARIO(cancel_reason_comes_up_from_the_future)
{
    static const coil_task_fn bodies[] = {awaiting, gathering};

    for (int i = 0; i < 2; i++) {
        coil_future *future = new_future();
        coil_task *inner = start(bodies[i], future), *task;

        task = inner != NULL ? start(awaiting, coil_task_future(inner)) : NULL;
        if (task == NULL)
            return -ENOMEM;
        turns(2);
        coil_future_cancel(future, "out of order");
        if (coil_task_await(task) == -ECANCELED)
            trace("because: %s", coil_future_cancel_reason(coil_task_future(task)));
        trace("counted: %d", coil_task_cancelling(task));
    }
    return 0;
}

static int cancel_reason_is_kept_body(void *arg)
{
    (void)arg;
    trace("never printed");
    return 0;
}

/*
 * The reason of a cancellation is available even if the task was cancelled before its
 * first step.
 */
SCENARIO(cancel_reason_is_kept_for_a_task_that_never_began)
{
    coil_task *task = start(cancel_reason_is_kept_body, NULL);
    coil_future *future;
    int rc;

    if (task == NULL)
        return -ENOMEM;
    future = coil_task_future(task);
    coil_task_cancel(task, "not needed");
    rc = coil_wait(&future, 1, COIL_WAIT_ALL, COIL_NEVER);
    trace("awaited: %s", outcome(rc < 0 ? rc : 0));
    trace("state: %s", state(future));
    trace("reason: %s", coil_future_cancel_reason(future));
    return 0;
}

static const char *or_none(const char *reason)
{
    return reason != NULL ? reason : "none";
}

static int cancel_reason_reaches_body(void *arg)
{
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    trace("inside: %s", or_none(coil_cancel_reason()));
    return rc;
}

/*
 * The reason of a cancellation is visible inside the task, and to the tasks that await
 * it.
 */
SCENARIO(cancel_reason_reaches_who_waits_for_the_task)
{
    static const char *const reasons[] = {"time to go home", NULL};

    for (int i = 0; i < 2; i++) {
        coil_task *task = start(cancel_reason_reaches_body, NULL);
        coil_future *future;
        int done;

        if (task == NULL)
            return -ENOMEM;
        future = coil_task_future(task);
        turns(1);
        coil_task_cancel(task, reasons[i]);
        done = coil_wait(&future, 1, COIL_WAIT_ALL, COIL_NEVER);
        trace("outside: %d done, %s", done, or_none(coil_future_cancel_reason(future)));
    }
    return 0;
}

struct link {
    int number;
    coil_future *inner;
};

static int chain(void *arg)
{
    struct link *link = arg;
    int rc = coil_await(link->inner);

    trace("link %d ends", link->number);
    return rc;
}

/*
 * Cancelling the first of four tasks in a chain of awaits cancels all four at once. The
 * tasks end one turn after another.
 */
SCENARIO(cancel_runs_down_a_chain_and_comes_back_up)
{
    static struct link links[4];
    coil_task *tasks[4], *ticks;
    coil_future *inner = new_future();

    for (int i = 0; i < 4; i++) {
        links[i] = (struct link){i, inner};
        tasks[i] = start(chain, &links[i]);
        if (tasks[i] == NULL)
            return -ENOMEM;
        inner = coil_task_future(tasks[i]);
    }
    turns(2);
    ticks = start(ticker, TURNS(5));
    if (ticks == NULL)
        return -ENOMEM;
    trace("cancel: %d", coil_task_cancel(tasks[3], NULL));
    trace("counted: %d %d %d %d", coil_task_cancelling(tasks[0]),
          coil_task_cancelling(tasks[1]), coil_task_cancelling(tasks[2]),
          coil_task_cancelling(tasks[3]));
    trace("awaited: %s", outcome(coil_task_await(tasks[3])));
    trace("states: %s %s %s %s", state(links[1].inner), state(links[2].inner),
          state(links[3].inner), state(inner));
    return coil_task_await(ticks);
}

static int cancelled_child_child(void *future)
{
    coil_future_set(future, 0, NULL, NULL);
    return trace_outcome("child", coil_sleep(COIL_SEC(10)));
}

static void call_off(void *task)
{
    coil_task_cancel(task, "called off");
}

static int cancelled_child_parent(void *arg)
{
    coil_future *future = new_future();
    coil_task *task = start(cancelled_child_child, future);
    int rc;

    (void)arg;
    if (task == NULL)
        return -ENOMEM;
    rc = coil_await(future);
    if (rc == 0)
        rc = coil_call_soon(call_off, task, NULL);
    if (rc < 0)
        return rc;
    if (coil_task_await(task) != -ECANCELED)
        return 0;
    trace("parent: %s", coil_future_cancel_reason(coil_task_future(task)));
    return -EINVAL;
}

/* A parent may handle its child's cancellation by failing with an error of its own. */
SCENARIO(cancelled_child_makes_its_parent_fail)
{
    coil_task *task = start(cancelled_child_parent, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("counted: %d", coil_task_cancelling(task));
    return 0;
}

static int cancelled_future_cancels_body(void *future)
{
    int rc = trace_outcome("await", coil_await(future));

    trace("counted: %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

/*
 * If a future is cancelled, its awaiter is cancelled too, although no cancellation of the
 * awaiter was requested.
 */
SCENARIO(cancelled_future_cancels_who_awaits_it)
{
    coil_future *future = new_future();
    coil_task *task = start(cancelled_future_cancels_body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_future_cancel(future, NULL));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    return 0;
}

static int cancelled_future_is_awaited_body(void *arg)
{
    coil_future *future = arg;

    trace("first: %s", outcome(coil_await(future)));
    coil_cancel_caught();
    trace("again: %s", outcome(coil_await(future)));
    trace("shield: %s", outcome(coil_shield(future)));
    trace("gather: %s", outcome(coil_gather(&future, 1, 0, NULL)));
    trace("yield: %s", outcome(coil_yield()));
    return 1;
}

/*
 * If a task is cancelled while it awaits a future, the future is cancelled too. The task
 * may await this future again, and the second await returns at once.
 */
SCENARIO(cancelled_future_is_awaited_again_at_once)
{
    coil_future *future = new_future();
    coil_task *task = start(cancelled_future_is_awaited_body, future), *ticks;

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    ticks = start(ticker, TURNS(3));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return ticks != NULL ? coil_task_await(ticks) : -ENOMEM;
}

static int cancelled_sleep_body(void *arg)
{
    (void)arg;
    for (int seconds = 5; seconds <= 7; seconds += 2) {
        trace("sleep of %d: %s", seconds, outcome(coil_sleep(COIL_SEC(seconds))));
        coil_cancel_caught();
    }
    return 0;
}

/* A cancelled sleep does not wake its task at the original deadline. */
SCENARIO(cancelled_sleep_leaves_nothing_behind)
{
    coil_task *task = start(cancelled_sleep_body, NULL);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    turns(2);
    trace("state: %s", state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

static int cancelled_task_body(void *future)
{
    return trace_outcome("await", coil_await(future));
}

/* Cancelling a task cancels the awaited future at once, and the task one turn later. */
SCENARIO(cancelled_task_cancels_the_future_it_awaits)
{
    coil_future *future = new_future();
    coil_task *task = start(cancelled_task_body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    turns(1);
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

static int child_cancels_child(void *child_cancels_parent)
{
    trace("child cancels: %d", coil_task_cancel(child_cancels_parent, NULL));
    trace("child counts %d", coil_task_cancelling(coil_task_current()));
    return 1;
}

static int child_cancels_parent(void *arg)
{
    coil_task *task = start(child_cancels_child, coil_task_current());
    int rc;

    (void)arg;
    if (task == NULL)
        return -ENOMEM;
    rc = trace_outcome("parent", coil_task_await(task));
    trace("parent counts %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

/*
 * A child that cancels its waiting parent also cancels itself, because the parent awaits
 * it. The child ends as cancelled even if it returns without waiting.
 */
SCENARIO(child_cancels_the_parent_that_awaits_it)
{
    coil_task *task = start(child_cancels_parent, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

static int second_cancel_body(void *arg)
{
    int rc = trace_outcome("work", coil_sleep(COIL_SEC(10)));

    (void)arg;
    if (rc != -ECANCELED)
        return rc;
    coil_cancel_caught();
    rc = trace_outcome("cleanup", coil_sleep(COIL_SEC(3)));
    trace("counted: %d", coil_task_cancelling(coil_task_current()));
    return rc == -ECANCELED ? rc : -EIO;
}

/*
 * After a task has caught its cancellation, its cleanup may wait. A second request
 * interrupts the cleanup.
 */
SCENARIO(second_cancel_interrupts_the_cleanup)
{
    for (int cancels = 1; cancels <= 2; cancels++) {
        coil_task *task = start(second_cancel_body, NULL);

        if (task == NULL)
            return -ENOMEM;
        coil_sleep(COIL_SEC(1));
        for (int i = 0; i < cancels; i++) {
            trace("cancel: %d", coil_task_cancel(task, NULL));
            coil_sleep(COIL_SEC(1));
        }
        trace("awaited: %s", outcome(coil_task_await(task)));
    }
    return 0;
}
