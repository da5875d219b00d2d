/*
 * timeout.c - timeouts of blocks of code.
 */
#include "timeouts.h"

/*
 * If a task that has caught a cancellation is cancelled again in a block with a deadline,
 * the block returns the cancellation, not a timeout.
 */
SCENARIO(timeout_after_a_cancellation_meets_another)
{
    coil_scope scope;
    int rc;

    coil_task_cancel(coil_task_current(), NULL);
    trace_outcome("work", coil_sleep(COIL_SEC(1)));
    coil_cancel_caught();
    rc = enter(&scope, 1);
    if (rc < 0)
        return rc;
    coil_task_cancel(coil_task_current(), NULL);
    rc = leave("timeout", &scope, trace_outcome("cleanup", coil_sleep(COIL_SEC(10))));
    trace("caught %s", outcome(rc));
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    return 0;
}

/*
 * After a task has caught a cancellation without uncancel(), a timeout still works as
 * usual.
 */
SCENARIO(timeout_after_a_cancellation_that_was_caught)
{
    coil_scope scope;
    int rc;

    coil_task_cancel(coil_task_current(), NULL);
    trace_outcome("work", coil_sleep(COIL_SEC(1)));
    coil_cancel_caught();
    rc = enter(&scope, 0);
    if (rc < 0)
        return rc;
    rc = leave("timeout", &scope, trace_outcome("cleanup", coil_sleep(COIL_SEC(10))));
    trace("caught %s", outcome(rc));
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    return 0;
}

/*
 * When the deadline passes, the wait is cancelled and the block times out. No request to
 * cancel is left.
 */
SCENARIO(timeout_cuts_off_what_takes_too_long)
{
    coil_scope scope;
    int rc = enter(&scope, 1);

    if (rc < 0)
        return rc;
    rc = leave("timeout", &scope, trace_outcome("sleep", coil_sleep(COIL_SEC(10))));
    trace("body: %s", outcome(rc));
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}

static int timeout_does_body(void *arg)
{
    coil_scope scope;
    int rc = enter(&scope, 10);

    (void)arg;
    if (rc < 0)
        return rc;
    coil_task_cancel(coil_task_current(), NULL);
    return leave("timeout", &scope, trace_outcome("sleep", coil_sleep(COIL_SEC(10))));
}

/*
 * If another task cancels the block before its deadline, the block is cancelled and does
 * not count as expired.
 */
SCENARIO(timeout_does_not_claim_a_foreign_cancellation)
{
    coil_task *task = start(timeout_does_body, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace_outcome("task", coil_task_await(task));
    trace("cancelled %d", coil_future_cancelled(coil_task_future(task)));
    return 0;
}

/* A deadline in the past has the same effect as a deadline of now. */
SCENARIO(timeout_in_the_past_cancels_even_a_yield)
{
    coil_scope scope;

    start(ticker, TURNS(5));
    coil_scope_enter(&scope, coil_in(COIL_SEC(-11)));
    trace("begins");
    trace_outcome("body", leave("timeout", &scope,
                                trace_outcome("sleep", coil_sleep(COIL_SEC(0)))));
    return 0;
}

static int inner(void)
{
    coil_scope scope;
    int rc = enter(&scope, 1);

    if (rc < 0)
        return rc;
    return leave("inner", &scope, trace_outcome("first sleep", coil_sleep(COIL_SEC(10))));
}

/*
 * If an inner deadline passes first, the inner block times out. The outer block continues
 * until the outer deadline passes.
 */
SCENARIO(timeout_inside_comes_before_the_one_outside)
{
    coil_scope outer;
    int rc = enter(&outer, 3);

    if (rc < 0)
        return rc;
    trace("caught %s", outcome(inner()));
    trace_outcome("body", leave("outer", &outer,
                                trace_outcome("second sleep", coil_sleep(COIL_SEC(10)))));
    return 0;
}

static coil_scope timeout_is_moved_scope;

static int timeout_is_moved_body(void *arg)
{
    int rc = enter(&timeout_is_moved_scope, 10);

    (void)arg;
    if (rc < 0)
        return rc;
    return leave("timeout", &timeout_is_moved_scope,
                 trace_outcome("sleep", coil_sleep(COIL_SEC(50))));
}

static coil_task *begin(void)
{
    coil_task *task = start(timeout_is_moved_body, NULL);

    if (task == NULL || coil_sleep(COIL_SEC(1)) < 0 ||
        coil_future_done(coil_task_future(task)))
        return NULL;
    return task;
}

/* Another task may make the deadline earlier or later, or remove it. */
SCENARIO(timeout_is_moved_by_somebody_else)
{
    static const int64_t deadlines[] = {COIL_SEC(20), COIL_SEC(4), COIL_NEVER};
    coil_task *task = begin();

    if (task == NULL)
        return -ENOMEM;
    for (int i = 0; i < 3; i++) {
        trace("deadline %d",
              (int)(coil_scope_deadline(&timeout_is_moved_scope) / COIL_SEC(1)));
        coil_scope_set_deadline(&timeout_is_moved_scope, deadlines[i]);
    }
    trace("deadline %s",
          coil_scope_deadline(&timeout_is_moved_scope) == COIL_NEVER ? "none" : "some");
    coil_sleep(COIL_SEC(30));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace_outcome("task", coil_task_await(task));
    task = begin();
    if (task == NULL)
        return -ENOMEM;
    coil_scope_set_deadline(&timeout_is_moved_scope, COIL_SEC(35));
    trace_outcome("task", coil_task_await(task));
    return 0;
}

/* A block that fails on its own returns its failure, before or after the deadline. */
SCENARIO(timeout_lets_a_failure_pass)
{
    coil_scope scope;
    int rc = enter(&scope, 1);

    if (rc < 0)
        return rc;
    trace_outcome("in time", leave("timeout", &scope, -EIO));
    rc = enter(&scope, 1);
    if (rc < 0)
        return rc;
    rc = trace_outcome("sleep", coil_sleep(COIL_SEC(10)));
    trace_outcome("late", leave("timeout", &scope, rc < 0 ? -EPROTO : rc));
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    trace_outcome("sleep", coil_sleep(COIL_SEC(10)));
    return 0;
}

static int timeout_may_body(int64_t deadline)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, deadline);

    if (rc < 0)
        return rc;
    trace("deadline %d", (int)(coil_scope_deadline(&scope) / COIL_SEC(1)));
    return coil_scope_exit(&scope, trace_outcome("sleep", coil_sleep(COIL_SEC(10))));
}

/* A deadline may be given as a time on the loop's clock. */
SCENARIO(timeout_may_be_a_point_of_time)
{
    coil_sleep(COIL_SEC(2));
    trace_outcome("body", timeout_may_body(COIL_SEC(5)));
    trace_outcome("body", timeout_may_body(COIL_SEC(5)));
    return 0;
}

static void clean_up(void)
{
    coil_scope inner;
    int rc;

    coil_cancel_caught();
    rc = enter(&inner, 1);
    if (rc == 0)
        rc = leave("inner", &inner, trace_outcome("cleanup", coil_sleep(COIL_SEC(10))));
    trace("caught %s", outcome(rc));
}

/*
 * If a block times out, and a timeout in its cleanup expires too, the block still returns
 * a timeout.
 */
SCENARIO(timeout_of_a_cleanup_after_a_timeout)
{
    coil_scope outer;
    int rc = enter(&outer, 1);

    if (rc < 0)
        return rc;
    rc = trace_outcome("sleep", coil_sleep(COIL_SEC(10)));
    clean_up();
    trace_outcome("body", leave("outer", &outer, rc));
    trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}

static int child(void *arg)
{
    int rc = trace_outcome("child", coil_sleep(COIL_SEC(2)));

    (void)arg;
    return rc < 0 ? -EIO : rc;
}

/*
 * If a deadline interrupts a group, and a child fails when it is cancelled, the block
 * returns that failure.
 */
SCENARIO(timeout_of_a_group_whose_child_fails)
{
    coil_scope scope;
    coil_group group;
    int rc = enter(&scope, 1);

    if (rc < 0)
        return rc;
    coil_group_enter(&group);
    if (start_child(&group, child, NULL) == NULL)
        rc = -ENOMEM;
    else
        rc = trace_outcome("body", coil_sleep(COIL_SEC(5)));
    rc = trace_outcome("group", coil_group_exit(&group, rc));
    trace("group: failures %s", failures(&group));
    trace_outcome("body", leave("timeout", &scope, rc));
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}

/*
 * A block without a deadline is not interrupted, no matter which call has created the
 * block.
 */
SCENARIO(timeout_of_none_never_comes)
{
    coil_scope scope;

    coil_scope_enter(&scope, COIL_NEVER);
    trace_outcome("sleep", coil_sleep(COIL_SEC(1000)));
    trace("deadline %s", coil_scope_deadline(&scope) == COIL_NEVER ? "none" : "some");
    leave("none", &scope, 0);
    coil_scope_enter(&scope, COIL_NEVER);
    trace_outcome("sleep", coil_sleep(COIL_SEC(1000)));
    coil_scope_exit(&scope, 0);
    trace("expired %d", coil_scope_expired(&scope));
    return 0;
}

/*
 * If the deadlines of two nested blocks pass at the same time, the inner block is
 * cancelled, and only the outer block times out.
 */
SCENARIO(timeout_of_two_that_pass_together_is_the_outer_one)
{
    coil_scope outer, inner;
    int rc = enter(&outer, 1);

    if (rc < 0)
        return rc;
    rc = enter(&inner, 1);
    if (rc < 0)
        return coil_scope_exit(&outer, rc);
    rc = leave("inner", &inner, trace_outcome("sleep", coil_sleep(COIL_SEC(10))));
    trace_outcome("body", leave("outer", &outer, rc));
    return 0;
}

/* With a timeout of 0, the block begins, and its first wait is interrupted. */
SCENARIO(timeout_of_zero_cancels_at_the_first_wait)
{
    coil_scope scope;

    start(ticker, TURNS(5));
    coil_scope_enter(&scope, coil_in(COIL_SEC(0)));
    trace("begins");
    trace_outcome("body", leave("timeout", &scope,
                                trace_outcome("sleep", coil_sleep(COIL_SEC(10)))));
    return 0;
}

/* With a timeout of 0, even a yield is interrupted. */
SCENARIO(timeout_of_zero_cancels_even_a_yield)
{
    coil_scope scope;

    start(ticker, TURNS(5));
    coil_scope_enter(&scope, coil_in(COIL_SEC(0)));
    trace("begins");
    trace_outcome("body", leave("timeout", &scope,
                                trace_outcome("sleep", coil_sleep(COIL_SEC(0)))));
    return 0;
}

/* An outer deadline that passes first cancels the inner block, which has not expired. */
SCENARIO(timeout_outside_comes_before_the_one_inside)
{
    coil_scope outer, inner;
    int rc = enter(&outer, 1);

    if (rc < 0)
        return rc;
    rc = enter(&inner, 3);
    if (rc < 0)
        return coil_scope_exit(&outer, rc);
    rc = leave("inner", &inner, trace_outcome("sleep", coil_sleep(COIL_SEC(10))));
    trace_outcome("body", leave("outer", &outer, rc));
    trace_outcome("sleep", coil_sleep(COIL_SEC(5)));
    return 0;
}

static int outer(void *arg)
{
    coil_scope scope;
    int rc = enter(&scope, 1);

    (void)arg;
    if (rc < 0)
        return rc;
    rc = leave("timeout", &scope, trace_outcome("sleep", coil_sleep(COIL_SEC(10))));
    trace("caught %s", outcome(rc));
    return trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
}

/* A task that catches its timeout succeeds, and is not cancelled. */
SCENARIO(timeout_that_is_caught_leaves_the_task_alone)
{
    coil_task *task = start(outer, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace_outcome("task", coil_task_await(task));
    trace("done %d, cancelled %d", coil_future_done(coil_task_future(task)),
          coil_future_cancelled(coil_task_future(task)));
    return 0;
}

/* If a block ends in time, its deadline has no effect. */
SCENARIO(timeout_that_is_not_reached_does_nothing)
{
    coil_scope scope;
    int rc = enter(&scope, 3);

    if (rc < 0)
        return rc;
    trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    trace("deadline %d", (int)(coil_scope_deadline(&scope) / COIL_SEC(1)));
    leave("timeout", &scope, 0);
    trace_outcome("sleep", coil_sleep(COIL_SEC(10)));
    return 0;
}

static void move(const char *when)
{
    int rc = coil_scope_set_deadline(&timeout_is_moved_scope, coil_in(COIL_SEC(2)));

    trace("%s: %s", when, rc < 0 ? "refused" : "moved");
}

/*
 * A block's deadline cannot be moved once the block is being cancelled, has expired, or
 * has ended.
 */
SCENARIO(timeout_that_is_over_cannot_be_moved)
{
    int rc = enter(&timeout_is_moved_scope, 1);

    if (rc < 0)
        return rc;
    move("inside");
    rc = trace_outcome("sleep", coil_sleep(COIL_SEC(10)));
    move("expiring");
    trace_outcome("body", leave("timeout", &timeout_is_moved_scope, rc));
    move("expired");
    rc = enter(&timeout_is_moved_scope, 1);
    if (rc < 0)
        return rc;
    leave("timeout", &timeout_is_moved_scope, 0);
    move("left");
    return 0;
}

static int timeout_that_meets_body(void *arg)
{
    coil_scope scope;
    int rc = enter(&scope, 1);

    (void)arg;
    if (rc < 0)
        return rc;
    return leave("timeout", &scope, trace_outcome("sleep", coil_sleep(COIL_SEC(10))));
}

/*
 * If another task cancels the block in the turn in which its deadline passes, the block
 * has expired, but still returns the cancellation.
 */
SCENARIO(timeout_that_meets_a_foreign_cancellation_gives_way)
{
    coil_task *task = start(timeout_that_meets_body, NULL);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace_outcome("task", coil_task_await(task));
    trace("cancelling %d", coil_task_cancelling(task));
    return 0;
}
