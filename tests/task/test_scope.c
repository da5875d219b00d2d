/*
 * test_scope.c - deadlines as regions of code.
 */
#include "../harness/harness.h"

#include <coil.h>

TASK_TEST(scope_turns_its_own_cancellation_into_a_timeout)
{
    coil_scope s;
    int rc;

    CHECK_INT(coil_scope_enter(&s, coil_in(COIL_MSEC(10))), 0);
    CHECK_INT(coil_scope_deadline(&s), COIL_MSEC(10));
    rc = coil_sleep(COIL_SEC(1));
    CHECK_INT(rc, -ECANCELED);
    CHECK(coil_scope_expired(&s));
    CHECK_INT(coil_scope_exit(&s, rc), -ETIMEDOUT);
    CHECK(coil_scope_expired(&s));
    CHECK_INT(coil_now(), COIL_MSEC(10));
    CHECK_INT(coil_task_cancelling(coil_task_current()), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
}

TASK_TEST(scope_that_is_left_in_time_leaves_nothing_behind)
{
    coil_scope s;

    coil_scope_enter(&s, coil_in(COIL_MSEC(10)));
    CHECK_INT(coil_scope_exit(&s, coil_sleep(COIL_MSEC(5))), 0);
    CHECK(!coil_scope_expired(&s));
    CHECK_INT(coil_sleep(COIL_MSEC(50)), 0);
    CHECK_INT(coil_scope_set_deadline(&s, 1), -EINVAL);
    coil_scope_enter(&s, COIL_NEVER);
    CHECK_INT(coil_scope_exit(&s, 7), 7);
}

TASK_TEST(scope_whose_deadline_has_passed_still_does_what_need_not_wait)
{
    coil_queue q = COIL_QUEUE_INIT(sizeof(int), 0);
    coil_scope s;
    int rc;

    coil_scope_enter(&s, coil_in(-1));
    CHECK_INT(coil_queue_put(&q, &(int){1}), 0);
    rc = coil_queue_get(&q, &rc);
    CHECK_INT(rc, 0);
    rc = coil_queue_get(&q, &rc);
    CHECK_INT(rc, -ECANCELED);
    CHECK_INT(coil_scope_exit(&s, rc), -ETIMEDOUT);
    coil_queue_finish(&q);
}

TASK_TEST(the_earliest_of_nested_scopes_wins)
{
    coil_scope outer, inner;
    int rc;

    coil_scope_enter(&outer, coil_in(COIL_MSEC(10)));
    coil_scope_enter(&inner, coil_in(COIL_MSEC(20)));
    rc = coil_sleep(COIL_SEC(1));
    rc = coil_scope_exit(&inner, rc);
    CHECK_INT(rc, -ECANCELED);
    CHECK_INT(coil_scope_exit(&outer, rc), -ETIMEDOUT);

    coil_scope_enter(&outer, coil_in(COIL_MSEC(20)));
    coil_scope_enter(&inner, coil_in(COIL_MSEC(10)));
    rc = coil_scope_exit(&inner, coil_sleep(COIL_SEC(1)));
    CHECK_INT(rc, -ETIMEDOUT);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    CHECK_INT(coil_scope_exit(&outer, 0), 0);
}

TASK_TEST(scope_deadline_may_be_moved)
{
    coil_scope s;

    coil_scope_enter(&s, coil_in(COIL_MSEC(10)));
    CHECK_INT(coil_scope_set_deadline(&s, coil_in(COIL_MSEC(100))), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(50)), 0);
    CHECK_INT(coil_scope_set_deadline(&s, coil_in(COIL_MSEC(1))), 0);
    CHECK_INT(coil_scope_exit(&s, coil_sleep(COIL_SEC(1))), -ETIMEDOUT);
    CHECK_INT(coil_now(), COIL_MSEC(51));
}

static int timed(void *arg)
{
    coil_scope s;
    int rc;

    coil_scope_enter(&s, coil_in(COIL_MSEC(10)));
    rc = coil_sleep(COIL_SEC(1));
    rc = coil_scope_exit(&s, rc);
    test_trace("%d ", rc);
    (void)arg;
    return rc;
}

TASK_TEST(a_foreign_cancellation_is_not_a_timeout)
{
    coil_task *t;

    coil_spawn(timed, NULL, NULL, &t);
    CHECK_INT(coil_sleep(COIL_MSEC(5)), 0);
    coil_task_cancel(t, NULL);
    CHECK_INT(coil_task_await(t), -ECANCELED);
    coil_task_release(t);

    /* Both in the same turn: the foreign one stands. */
    coil_spawn(timed, NULL, NULL, &t);
    CHECK_INT(coil_sleep(COIL_MSEC(10)), 0);
    coil_task_cancel(t, NULL);
    CHECK_INT(coil_task_await(t), -ECANCELED);
    coil_task_release(t);
    CHECK_TRACE("-125 -125 ");
}

/* C code that overlooks the timeout inside still gets out of the scope alive. */
TASK_TEST(scope_forgives_a_body_that_forgot_the_cancellation)
{
    coil_scope s;

    coil_scope_enter(&s, coil_in(COIL_MSEC(10)));
    coil_sleep(COIL_SEC(1));
    coil_sleep(COIL_SEC(1));
    CHECK_INT(coil_scope_exit(&s, 0), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
}

static int leave_open(void *arg)
{
    static coil_scope s;

    (void)arg;
    return coil_scope_enter(&s, COIL_NEVER);
}

static void run_leave_open(void *arg)
{
    (void)arg;
    coil_run(leave_open, NULL, NULL);
}

static int cross_over(void *arg)
{
    coil_scope a, b;

    (void)arg;
    coil_scope_enter(&a, COIL_NEVER);
    coil_scope_enter(&b, COIL_NEVER);
    return coil_scope_exit(&a, 0);
}

static void run_cross_over(void *arg)
{
    (void)arg;
    coil_run(cross_over, NULL, NULL);
}

TEST(scopes_misused_stop_the_program_with_a_sentence)
{
    test_dies(run_leave_open, NULL, "has ended with a scope open");
    test_dies(run_cross_over, NULL, "innermost open one");
}
