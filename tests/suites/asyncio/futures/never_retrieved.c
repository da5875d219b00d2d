/*
 * never_retrieved.c - which failures are reported as never retrieved.
 */
#include "../scenario.h"

static int never_retrieved_failure_behind_body(void *arg)
{
    int rc = coil_sleep(COIL_SEC(2));

    (void)arg;
    if (rc < 0)
        return rc;
    trace("fails");
    return -EIO;
}

static int waiter(void *arg)
{
    coil_task *task;
    int rc = coil_spawn(never_retrieved_failure_behind_body, arg, NULL, &task);

    if (rc < 0)
        return rc;
    rc = trace_outcome("shield", coil_shield(coil_task_future(task)));
    coil_task_release(task);
    return rc;
}

/*
 * If the task that awaits a shielded future is cancelled, and the future fails later, the
 * failure is reported, because no task retrieves it.
 */
SCENARIO(never_retrieved_failure_behind_a_shield_is_reported)
{
    coil_task *task = start(waiter, NULL);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    coil_set_exception_handler(trace_exception, NULL);
    rc = coil_sleep(COIL_SEC(1));
    if (rc < 0)
        return rc;
    coil_task_cancel(task, NULL);
    trace("waiter: %s", outcome(coil_task_await(task)));
    return coil_sleep(COIL_SEC(2));
}

/*
 * A failed future that was never retrieved is reported once, when its last reference is
 * released.
 */
SCENARIO(never_retrieved_failure_of_a_future_is_reported)
{
    coil_future *future, *other;
    int rc = coil_future_create(&future);

    if (rc < 0)
        return rc;
    coil_set_exception_handler(trace_exception, NULL);
    other = coil_future_retain(future);
    coil_future_set(future, -EIO, NULL, NULL);
    trace("set");
    turns(2);
    coil_future_release(future);
    trace("one reference left");
    coil_future_release(other);
    trace("none left");
    return 0;
}

static int never_retrieved_failure_of_a_task_body(void *name)
{
    int rc = coil_sleep(COIL_SEC(1));

    if (rc < 0)
        return rc;
    trace("%s fails", (const char *)name);
    return -EIO;
}

/*
 * If a task's failure was never retrieved, it is reported when the last reference to the
 * task is released, or when the task ends without references.
 */
SCENARIO(never_retrieved_failure_of_a_task_is_reported)
{
    coil_task *held;
    int rc = coil_spawn(never_retrieved_failure_of_a_task_body, "held", NULL, &held);

    if (rc < 0)
        return rc;
    coil_set_exception_handler(trace_exception, NULL);
    rc = coil_spawn(never_retrieved_failure_of_a_task_body, "loose", NULL, NULL);
    if (rc == 0)
        rc = coil_sleep(COIL_SEC(2));
    trace("done: %d", coil_future_done(coil_task_future(held)));
    coil_task_release(held);
    trace("let go");
    return rc;
}

struct work {
    int seconds, fails;
};

static int body(void *arg)
{
    const struct work *work = arg;
    int rc = coil_sleep(COIL_SEC(work->seconds));

    if (rc < 0)
        return rc;
    trace("%d ends", work->seconds);
    return work->fails ? -EIO : 0;
}

/*
 * A wait for the first failure does not retrieve the failure of the last future, because
 * the wait would also end if that future succeeded.
 */
SCENARIO(never_retrieved_failure_of_the_last_waited_for_is_reported)
{
    struct work works[] = {{1, 0}, {2, 1}};
    coil_future *futures[2];
    coil_task *tasks[2] = {NULL};
    int rc = 0;

    coil_set_exception_handler(trace_exception, NULL);
    for (int i = 0; i < 2 && rc == 0; i++) {
        rc = coil_spawn(body, &works[i], NULL, &tasks[i]);
        if (rc == 0)
            futures[i] = coil_task_future(tasks[i]);
    }
    if (rc == 0)
        rc = coil_wait(futures, 2, COIL_WAIT_FIRST_EXCEPTION, COIL_NEVER);
    trace("waited");
    rc = coil_sleep(COIL_SEC(3));
    for (int i = 0; i < 2; i++) {
        coil_task_release(tasks[i]);
        trace("let go of one");
    }
    return rc;
}

/* A wait for the first failure retrieves that failure, but not later ones. */
SCENARIO(never_retrieved_failure_that_ended_a_wait_is_silent)
{
    struct work works[] = {{1, 1}, {2, 1}};
    coil_future *futures[2];
    coil_task *tasks[2] = {NULL};
    int rc = 0;

    coil_set_exception_handler(trace_exception, NULL);
    for (int i = 0; i < 2 && rc == 0; i++) {
        rc = coil_spawn(body, &works[i], NULL, &tasks[i]);
        if (rc == 0)
            futures[i] = coil_task_future(tasks[i]);
    }
    if (rc == 0)
        rc = coil_wait(futures, 2, COIL_WAIT_FIRST_EXCEPTION, COIL_NEVER);
    trace("waited");
    rc = coil_sleep(COIL_SEC(3));
    for (int i = 0; i < 2; i++) {
        coil_task_release(tasks[i]);
        trace("let go of one");
    }
    return rc;
}

static coil_future *failed(void)
{
    coil_future *future;

    if (coil_future_create(&future) < 0)
        return NULL;
    coil_future_set(future, -EIO, NULL, NULL);
    return future;
}

/*
 * A failure that was retrieved through the result, the exception or an await is not
 * reported.
 */
SCENARIO(never_retrieved_failure_that_was_asked_for_is_silent)
{
    static const char *const ways[] = {"result", "exception", "awaited"};
    coil_future *future;

    coil_set_exception_handler(trace_exception, NULL);
    for (int i = 0; i < 3; i++) {
        future = failed();
        if (future == NULL)
            return -ENOMEM;
        trace("%s: %s", ways[i], i < 2 ? state(future) : outcome(coil_await(future)));
        coil_future_release(future);
    }
    future = failed();
    if (future == NULL)
        return -ENOMEM;
    trace("done: %d", coil_future_done(future));
    coil_future_release(future);
    trace("end");
    return 0;
}

/* Waiting until all futures have ended does not retrieve their results. */
SCENARIO(never_retrieved_failures_after_a_wait_are_reported)
{
    struct work works[] = {{1, 1}, {2, 1}};
    coil_future *futures[2];
    coil_task *tasks[2] = {NULL};
    int rc = 0;

    coil_set_exception_handler(trace_exception, NULL);
    for (int i = 0; i < 2 && rc == 0; i++) {
        rc = coil_spawn(body, &works[i], NULL, &tasks[i]);
        if (rc == 0)
            futures[i] = coil_task_future(tasks[i]);
    }
    if (rc == 0)
        rc = coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("waited");
    rc = coil_sleep(COIL_SEC(3));
    for (int i = 0; i < 2; i++) {
        coil_task_release(tasks[i]);
        trace("let go of one");
    }
    return rc;
}

static int never_retrieved_failures_are_reported_body(void *i)
{
    static const int rcs[] = {-EIO, -EPROTO, -EBADF};
    int rc = coil_sleep(COIL_SEC((intptr_t)i));

    if (rc < 0)
        return rc;
    trace("%d fails", (int)(intptr_t)i);
    return rcs[(intptr_t)i];
}

/*
 * Failures are reported in the order in which the futures are released, not in the order
 * in which they failed.
 */
SCENARIO(never_retrieved_failures_are_reported_in_the_order_of_release)
{
    static const int order[] = {1, 2, 0};
    coil_task *tasks[3] = {NULL};
    int rc = 0;

    coil_set_exception_handler(trace_exception, NULL);
    for (intptr_t i = 0; i < 3 && rc == 0; i++)
        rc = coil_spawn(never_retrieved_failures_are_reported_body, (void *)i, NULL,
                        &tasks[i]);
    if (rc == 0)
        rc = coil_sleep(COIL_SEC(3));
    for (int i = 0; i < 3; i++) {
        trace("let go of %d", order[i]);
        coil_task_release(tasks[order[i]]);
    }
    return rc;
}

static int never_retrieved_failures_of_gathered_body(void *seconds)
{
    int rc = coil_sleep(COIL_SEC((intptr_t)seconds));

    if (rc < 0)
        return rc;
    trace("%d fails", (int)(intptr_t)seconds);
    return -EIO;
}

/*
 * gather() returns the first failure of its tasks, and marks later failures as retrieved,
 * so they are not reported.
 */
SCENARIO(never_retrieved_failures_of_gathered_tasks_are_silent)
{
    coil_future *futures[3];
    coil_task *tasks[4] = {NULL};
    int rc = 0;

    coil_set_exception_handler(trace_exception, NULL);
    for (intptr_t i = 0; i < 4 && rc == 0; i++) {
        rc = coil_spawn(never_retrieved_failures_of_gathered_body, (void *)(i + 1), NULL,
                        &tasks[i]);
        if (rc == 0 && i < 3)
            futures[i] = coil_task_future(tasks[i]);
    }
    if (rc == 0)
        trace("gathered: %s", outcome(coil_gather(futures, 3, 0, NULL)));
    for (int i = 0; i < 4; i++)
        coil_task_release(tasks[i]);
    return rc < 0 ? rc : coil_sleep(COIL_SEC(4));
}

enum { PENDING, RESULT, ASKED, CANCELLED, COUNT };

/* Only failures are reported, not results, cancelled futures or pending futures. */
SCENARIO(never_retrieved_results_are_silent)
{
    static const char *const names[] = {"pending", "result", "asked", "cancelled"};
    coil_future *futures[COUNT] = {NULL};
    int rc = 0;

    coil_set_exception_handler(trace_exception, NULL);
    for (int i = 0; i < COUNT && rc == 0; i++)
        rc = coil_future_create(&futures[i]);
    if (rc == 0) {
        coil_future_set(futures[RESULT], 42, NULL, NULL);
        coil_future_set(futures[ASKED], 43, NULL, NULL);
        coil_future_cancel(futures[CANCELLED], NULL);
        trace("asked: %s", state(futures[ASKED]));
        turns(1);
    }
    for (int i = 0; i < COUNT; i++) {
        coil_future_release(futures[i]);
        trace("%s: gone", names[i]);
    }
    return rc;
}
