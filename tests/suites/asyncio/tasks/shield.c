/*
 * shield.c - which cancellations of a future shield() prevents.
 */
#include "../scenario.h"

static int body(void *future)
{
    return trace_outcome("await", coil_shield(future));
}

/* A shield does not prevent a direct cancellation of the shielded future. */
SCENARIO(shield_ends_with_its_future_that_is_cancelled)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_future_cancel(future, NULL));
    turns(1);
    trace("task %s", state(coil_task_future(task)));
    rc = coil_task_await(task);
    trace("awaited: %s, counted %d", outcome(rc), coil_task_cancelling(task));
    return 0;
}

static coil_future *shield_hands_on_a_failure_future;

static int shield_hands_on_a_failure_body(void *arg)
{
    int i = (int)(intptr_t)arg, rc = coil_shield(shield_hands_on_a_failure_future);

    if (rc >= 0)
        return 0;
    trace("%d: %s", i, outcome(rc));
    return i;
}

/*
 * If a shielded future fails, the task that awaits the shield gets the failure. Other
 * tasks are not affected.
 */
SCENARIO(shield_hands_on_a_failure)
{
    coil_future *tasks[2];

    shield_hands_on_a_failure_future = new_future();
    for (int i = 0; i < 2; i++) {
        coil_task *task =
            start(shield_hands_on_a_failure_body, (void *)(intptr_t)(i + 1));

        if (task == NULL)
            return -ENOMEM;
        tasks[i] = coil_task_future(task);
    }
    coil_sleep(COIL_SEC(1));
    coil_future_set(shield_hands_on_a_failure_future, -EIO, NULL, NULL);
    coil_wait(tasks, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("future %s, tasks %s %s", state(shield_hands_on_a_failure_future),
          state(tasks[0]), state(tasks[1]));
    return 0;
}

static int bare(void *future)
{
    return trace_outcome("bare", coil_await(future));
}

static int shielded(void *future)
{
    return trace_outcome("shielded", coil_shield(future));
}

/* Awaiting a shielded future takes one turn longer than awaiting the future itself. */
SCENARIO(shield_hands_on_a_result)
{
    coil_future *future = new_future();
    coil_task *first = start(shielded, future), *second = start(bare, future), *ticks;

    if (second == NULL)
        return -ENOMEM;
    turns(1);
    ticks = start(ticker, TURNS(3));
    if (ticks == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(future, 42, NULL, NULL);
    trace("set");
    coil_task_await(first);
    return coil_task_await(ticks);
}

/*
 * If a task that awaits a shielded future is cancelled, the future stays pending, and can
 * still be set.
 */
SCENARIO(shield_keeps_its_future_from_being_cancelled)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    turns(1);
    trace("task %s, future %s", state(coil_task_future(task)), state(future));
    coil_future_set(future, 5, NULL, NULL);
    turns(2);
    trace("task %s, future %s", state(coil_task_future(task)), state(future));
    return 0;
}

/* Awaiting a shield around a completed future takes no turn. */
SCENARIO(shield_of_what_is_done_takes_no_turn)
{
    coil_future *future = new_future(), *failed = new_future();
    coil_task *ticks = start(ticker, TURNS(1));

    if (ticks == NULL)
        return -ENOMEM;
    coil_future_set(future, 42, NULL, NULL);
    trace("shield: %s", outcome(coil_shield(future)));
    trace("no turn has passed");
    coil_future_set(failed, -EIO, NULL, NULL);
    trace("shield: %s", outcome(coil_shield(failed)));
    return coil_task_await(ticks);
}

static void cancel(coil_future *future, void *task)
{
    (void)future;
    trace("cancel: %d", coil_task_cancel(task, NULL));
}

/*
 * A task that awaits a shielded future can be cancelled even after the future was set,
 * until the task runs.
 */
SCENARIO(shield_waiter_is_cancelled_after_its_future_was_set)
{
    coil_future *future = new_future();
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    if (coil_future_add_callback(future, cancel, task) < 0)
        return -ENOMEM;
    coil_future_set(future, 1, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    trace("future: %s", state(future));
    return 0;
}

static int shield_waiter_is_cancelled_as_its_future_body(void *name)
{
    return trace_outcome(name, coil_shield(shield_hands_on_a_failure_future));
}

/*
 * If a shielded future is set and the task that awaits it is cancelled in the same turn,
 * the task gets the cancellation.
 */
SCENARIO(shield_waiter_is_cancelled_as_its_future_is_set)
{
    static char names[3][9] = {"waiter 0", "waiter 1", "waiter 2"};
    coil_task *tasks[3], *ticks;
    coil_future *all[4];

    shield_hands_on_a_failure_future = new_future();
    for (int i = 0; i < 3; i++)
        tasks[i] = start(shield_waiter_is_cancelled_as_its_future_body, names[i]);
    ticks = start(ticker, TURNS(4));
    if (ticks == NULL)
        return -ENOMEM;
    for (int i = 0; i < 3; i++)
        all[i] = coil_task_future(tasks[i]);
    all[3] = coil_task_future(ticks);
    turns(1);
    coil_task_cancel(tasks[0], NULL);
    coil_future_set(shield_hands_on_a_failure_future, 1, NULL, NULL);
    coil_task_cancel(tasks[1], NULL);
    trace("set between two cancels");
    coil_wait(all, 4, COIL_WAIT_ALL, COIL_NEVER);
    trace("tasks %s %s %s", state(all[0]), state(all[1]), state(all[2]));
    return 0;
}

static int try_steps(const char *how, coil_future *future)
{
    coil_task *task = start(body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    if (how[0] == 'c')
        coil_task_cancel(task, NULL);
    if (strstr(how, "turn") != NULL)
        turns(2);
    coil_future_set(future, -EIO, NULL, NULL);
    if (how[0] == 'f')
        coil_task_cancel(task, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return turns(1);
}

/*
 * If a shielded future fails a turn or more after its waiter was cancelled, the failure
 * is reported.
 */
SCENARIO(shielded_failure_nobody_waits_for_is_reported)
{
    static const char *const hows[] = {"cancel, a turn, fail", "cancel, fail",
                                       "fail, cancel"};

    coil_set_exception_handler(trace_exception, NULL);
    for (int i = 0; i < 3; i++) {
        coil_future *future;
        int rc;

        trace("%s", hows[i]);
        rc = coil_future_create(&future);
        if (rc < 0)
            return rc;
        rc = try_steps(hows[i], future);
        coil_future_release(future);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static coil_future *futures[2];

static int gatherer(void *arg)
{
    int rcs[2], rc = coil_gather(futures, 2, 0, rcs);

    (void)arg;
    if (rc < 0)
        return rc;
    trace("gathered %d and %d", rcs[0], rcs[1]);
    return 0;
}

static int outer(void *task)
{
    return trace_outcome("outer", coil_shield(coil_task_future(task)));
}

/*
 * A shielded task that gathers two futures gets both results even if the task that awaits
 * the shield is cancelled.
 */
SCENARIO(shielded_gather_outlives_its_waiter)
{
    coil_task *inner, *waiter;

    futures[0] = new_future();
    futures[1] = new_future();
    inner = start(gatherer, NULL);
    waiter = start(outer, inner);
    if (waiter == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(waiter, NULL);
    turns(1);
    trace("waiter %s, futures %s %s", state(coil_task_future(waiter)), state(futures[0]),
          state(futures[1]));
    coil_future_set(futures[0], 1, NULL, NULL);
    coil_future_set(futures[1], 2, NULL, NULL);
    trace("inner: %s", outcome(coil_task_await(inner)));
    return 0;
}

static int inner(void *future)
{
    trace_outcome("inner", coil_await(future));
    return coil_task_cancelling(coil_task_current());
}

/*
 * If the waiter of a shielded task is cancelled, the shielded task continues and does not
 * receive the request.
 */
SCENARIO(shielded_task_outlives_its_waiter)
{
    coil_future *future = new_future();
    coil_task *inner_task = start(inner, future), *outer_task = start(outer, inner_task);

    if (outer_task == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(outer_task, NULL);
    trace("outer task: %s", outcome(coil_task_await(outer_task)));
    coil_future_set(future, 1, NULL, NULL);
    trace("inner task: %s", outcome(coil_task_await(inner_task)));
    return 0;
}

static int work(void *arg)
{
    int rc = coil_sleep(COIL_SEC(3));

    (void)arg;
    trace("work is done");
    return rc < 0 ? rc : 5;
}

static int shielded_work_body(void *task)
{
    int rc = trace_outcome("shield", coil_shield(coil_task_future(task)));

    if (rc != -ECANCELED)
        return rc;
    coil_cancel_caught();
    trace_outcome("await", coil_task_await(task));
    return rc;
}

/*
 * If a task is cancelled while it awaits shielded work, it may still await that work
 * before it ends.
 */
SCENARIO(shielded_work_is_awaited_before_leaving)
{
    coil_task *inner = start(work, NULL), *task = start(shielded_work_body, inner);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    coil_sleep(COIL_SEC(1));
    trace("task %s", state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

static coil_task *middle, *shields_around_outer;

static int first(void *arg)
{
    (void)arg;
    return trace_outcome("middle", coil_shield(shield_hands_on_a_failure_future));
}

static int second(void *arg)
{
    (void)arg;
    return trace_outcome("outer", coil_shield(coil_task_future(middle)));
}

static void look(void)
{
    trace("outer %s, middle %s, future %s", state(coil_task_future(shields_around_outer)),
          state(coil_task_future(middle)), state(shield_hands_on_a_failure_future));
}

/*
 * If two shields are nested, cancelling the outermost task does not cancel the other
 * tasks.
 */
SCENARIO(shields_around_shields_protect_twice)
{
    shield_hands_on_a_failure_future = new_future();
    middle = start(first, NULL);
    shields_around_outer = start(second, NULL);
    if (shields_around_outer == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(shields_around_outer, NULL);
    turns(1);
    look();
    coil_task_cancel(middle, NULL);
    turns(1);
    look();
    coil_future_cancel(shield_hands_on_a_failure_future, NULL);
    turns(1);
    look();
    return 0;
}
