/* test_scope.c - deadlines for blocks of code. */
#include "../../harness/harness.h"

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

static int move_when_it_is_too_late(void *arg)
{
    /* cancelled by the interrupted group */
    CHECK_INT(coil_sleep(COIL_SEC(1)), -ECANCELED);
    coil_cancel_caught();
    return coil_scope_set_deadline(arg, coil_in(COIL_SEC(1)));
}

/*
 * Moving the deadline of an expired scope fails with the error that its owner will get on
 * exit.
 */
TASK_TEST(scope_that_has_expired_says_so_to_whoever_would_move_it)
{
    coil_group group;
    coil_scope s;
    int rc;

    coil_scope_enter(&s, coil_in(COIL_MSEC(10)));
    coil_group_enter(&group);
    coil_group_spawn(&group, move_when_it_is_too_late, &s, NULL, NULL);
    rc = coil_group_exit(&group, coil_sleep(COIL_MSEC(15)));
    CHECK_INT(coil_scope_set_deadline(&s, COIL_NEVER), -ETIMEDOUT);
    CHECK_INT(coil_scope_exit(&s, rc), -ETIMEDOUT);
    CHECK_INT(coil_scope_set_deadline(&s, COIL_NEVER), -ETIMEDOUT);
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

    /*
     * If another task cancels `t` in the turn in which the deadline passes, that request
     * must remain in effect.
     */
    coil_spawn(timed, NULL, NULL, &t);
    CHECK_INT(coil_sleep(COIL_MSEC(10)), 0);
    coil_task_cancel(t, NULL);
    CHECK_INT(coil_task_await(t), -ECANCELED);
    coil_task_release(t);
    CHECK_TRACE("-125 -125 ");
}

/* Leaving a scope succeeds even if the code inside has ignored the timeout. */
TASK_TEST(scope_forgives_a_body_that_forgot_the_cancellation)
{
    coil_scope s;

    coil_scope_enter(&s, coil_in(COIL_MSEC(10)));
    coil_sleep(COIL_SEC(1));
    coil_sleep(COIL_SEC(1));
    CHECK_INT(coil_scope_exit(&s, 0), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
}

static int overlook_and_time_out(void *arg)
{
    coil_scope s;

    (void)arg;
    coil_sleep(COIL_SEC(1)); /* this wait is cancelled, and the task continues */
    CHECK_INT(coil_scope_enter(&s, coil_in(0)), 0);
    test_trace("inside:%d ", coil_sleep(COIL_MSEC(1)));
    test_trace("exit:%d ", coil_scope_exit(&s, -ECANCELED));
    return coil_sleep(COIL_MSEC(1));
}

/*
 * A scope must not take a cancellation that was delivered before the scope was entered
 * for its own, even if its deadline passes.
 */
TASK_TEST(scope_does_not_claim_what_was_delivered_before_it)
{
    coil_task *t;

    coil_spawn(overlook_and_time_out, NULL, NULL, &t);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    coil_task_cancel(t, NULL);
    CHECK_INT(coil_task_await(t), -ECANCELED);
    coil_task_release(t);
    CHECK_TRACE("inside:-125 exit:-125 ");
}

/* ---- shields ----------------------------------------------------------------------- */

static int say(const char *what, int rc)
{
    test_trace("%s:%d ", what, rc);
    return rc;
}

/* Work until cancelled, and clean up for 10 ms in a shield. */
static int clean_up(void *arg)
{
    int64_t limit = *(int64_t *)arg;
    coil_scope s;
    int rc = say("work", coil_sleep(COIL_MSEC(100)));

    CHECK_INT(coil_scope_enter_shielded(&s, coil_in(limit)), 0);
    rc = say("cleanup", coil_sleep(COIL_MSEC(10)));
    say("exit", coil_scope_exit(&s, rc));
    return say("after", coil_sleep(1));
}

static int64_t plenty = COIL_SEC(1), little = COIL_MSEC(5);

static coil_task *start(coil_task_fn fn, void *arg)
{
    coil_task *t = NULL;

    CHECK_INT(coil_spawn(fn, arg, NULL, &t), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    return t;
}

TASK_TEST(shield_suspends_a_delivery_that_stands)
{
    coil_task *t = start(clean_up, &plenty);

    coil_task_cancel(t, NULL);
    CHECK_INT(test_join(t), -ECANCELED);
    CHECK_TRACE("work:-125 cleanup:0 exit:0 after:-125 ");
    CHECK_INT(coil_now(), COIL_MSEC(11));
}

TASK_TEST(shield_has_a_deadline_of_its_own)
{
    coil_task *t = start(clean_up, &little);

    coil_task_cancel(t, NULL);
    CHECK_INT(test_join(t), -ECANCELED);
    CHECK_TRACE("work:-125 cleanup:-125 exit:-110 after:-125 ");
    CHECK_INT(coil_now(), COIL_MSEC(6));
}

TASK_TEST(shield_counts_a_second_request_at_once_and_holds_it_back)
{
    coil_task *t = start(clean_up, &plenty);

    coil_task_cancel(t, NULL);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    coil_task_cancel(t, NULL);
    CHECK_INT(coil_task_cancelling(t), 2);
    CHECK_INT(test_join(t), -ECANCELED);
    CHECK_TRACE("work:-125 cleanup:0 exit:0 after:-125 ");
    CHECK_INT(coil_now(), COIL_MSEC(11));
}

static int shielded_nap(void *arg)
{
    coil_scope s;

    (void)arg;
    CHECK_INT(coil_scope_enter_shielded(&s, COIL_NEVER), 0);
    say("inside", coil_sleep(COIL_MSEC(10)));
    say("count", coil_task_cancelling(coil_task_current()));
    say("exit", coil_scope_exit(&s, 0));
    say("ready", coil_sleep(0));
    coil_cancel_caught();
    return say("then", coil_sleep(1));
}

TASK_TEST(shield_delivers_what_came_meanwhile_after_its_exit)
{
    coil_task *t = start(shielded_nap, NULL);

    coil_task_cancel(t, NULL);
    coil_task_cancel(t, NULL);
    CHECK_INT(test_join(t), 0);
    CHECK_TRACE("inside:0 count:2 exit:0 ready:-125 then:0 ");
}

static int cancelled_before_it_shields(void *arg)
{
    coil_task_cancel(coil_task_current(), NULL);
    return shielded_nap(arg);
}

TASK_TEST(shield_holds_back_a_request_that_was_not_delivered)
{
    CHECK_INT(test_join(start(cancelled_before_it_shields, NULL)), 0);
    CHECK_TRACE("inside:0 count:1 exit:0 ready:-125 then:0 ");
}

/*
 * Sleep in a shield until the deadline of the scope around it has passed. The scope's
 * request is never delivered: it is dropped when the scope ends.
 */
static int nap_past_a_deadline(void)
{
    coil_scope outer, shield;

    CHECK_INT(coil_scope_enter(&outer, coil_in(COIL_MSEC(1))), 0);
    CHECK_INT(coil_scope_enter_shielded(&shield, COIL_NEVER), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(2)), 0);
    CHECK_INT(coil_scope_exit(&shield, 0), 0);
    CHECK_INT(coil_scope_exit(&outer, 0), 0);
    CHECK(coil_scope_expired(&outer));
    return coil_yield();
}

TASK_TEST(scope_takes_its_request_along_though_an_older_one_was_caught)
{
    coil_task_cancel(coil_task_current(), NULL);
    CHECK_INT(coil_yield(), -ECANCELED);
    coil_cancel_caught();
    CHECK_INT(nap_past_a_deadline(), 0);
    CHECK_INT(coil_uncancel(), 0);
}

TASK_TEST(scope_leaves_an_older_request_that_was_not_delivered)
{
    coil_task_cancel(coil_task_current(), NULL);
    CHECK_INT(nap_past_a_deadline(), -ECANCELED);
    coil_cancel_caught();
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_uncancel(), 0);
}

static int take_back_in_a_shield(void *arg)
{
    coil_scope s;

    (void)arg;
    CHECK_INT(coil_scope_enter_shielded(&s, COIL_NEVER), 0);
    say("inside", coil_sleep(COIL_MSEC(10)));
    say("left", coil_uncancel());
    say("exit", coil_scope_exit(&s, 0));
    return say("then", coil_sleep(1));
}

TASK_TEST(a_request_that_is_held_back_may_be_taken_back)
{
    coil_task *t = start(take_back_in_a_shield, NULL);

    coil_task_cancel(t, NULL);
    CHECK_INT(test_join(t), 0);
    CHECK_TRACE("inside:0 left:0 exit:0 then:0 ");

    t = start(take_back_in_a_shield, NULL);
    coil_task_cancel(t, NULL);
    coil_task_cancel(t, NULL);
    CHECK_INT(test_join(t), -ECANCELED);
    CHECK_TRACE("inside:0 left:1 exit:0 then:-125 ");
}

static int scope_in_a_shield(void *arg)
{
    coil_scope shield, inner;

    (void)arg;
    CHECK_INT(coil_scope_enter_shielded(&shield, COIL_NEVER), 0);
    CHECK_INT(coil_scope_enter(&inner, coil_in(COIL_MSEC(5))), 0);
    say("inner", coil_scope_exit(&inner, coil_sleep(COIL_SEC(1))));
    say("shielded", coil_sleep(COIL_MSEC(5)));
    say("exit", coil_scope_exit(&shield, 0));
    return say("then", coil_sleep(1));
}

/*
 * A scope inside a shield times out as usual even if another task requests a
 * cancellation, which the shield holds back.
 */
TASK_TEST(scope_inside_a_shield_works_with_and_without_a_request_held_back)
{
    coil_task *t;

    CHECK_INT(test_join(start(scope_in_a_shield, NULL)), 0);
    CHECK_TRACE("inner:-110 shielded:0 exit:0 then:0 ");
    t = start(scope_in_a_shield, NULL);
    coil_task_cancel(t, NULL);
    CHECK_INT(test_join(t), -ECANCELED);
    CHECK_TRACE("inner:-110 shielded:0 exit:0 then:-125 ");
}

static int shield_in_a_scope(void *arg)
{
    coil_scope outer, shield;

    (void)arg;
    CHECK_INT(coil_scope_enter(&outer, coil_in(COIL_MSEC(5))), 0);
    CHECK_INT(coil_scope_enter_shielded(&shield, COIL_NEVER), 0);
    say("shielded", coil_sleep(COIL_MSEC(10)));
    say("expired", coil_scope_expired(&outer));
    say("inner", coil_scope_exit(&shield, 0));
    say("between", coil_sleep(1));
    say("outer", coil_scope_exit(&outer, -ECANCELED));
    return say("then", coil_sleep(1));
}

TASK_TEST(the_deadline_of_a_scope_outside_waits_for_the_shield)
{
    CHECK_INT(test_join(start(shield_in_a_scope, NULL)), 0);
    CHECK_TRACE("shielded:0 expired:1 inner:0 between:-125 outer:-110 then:0 ");
    CHECK_INT(coil_now(), COIL_MSEC(10) + 1);
}

static int fail_soon(void *arg)
{
    coil_sleep(COIL_MSEC(5));
    (void)arg;
    return -EIO;
}

static int group_between_shields(void *arg)
{
    coil_scope outer, inner;
    coil_group g;
    int rc;

    (void)arg;
    CHECK_INT(coil_scope_enter_shielded(&outer, COIL_NEVER), 0);
    coil_group_enter(&g);
    CHECK_INT(coil_group_spawn(&g, fail_soon, NULL, NULL, NULL), 0);
    CHECK_INT(coil_scope_enter_shielded(&inner, COIL_NEVER), 0);
    say("innermost", coil_sleep(COIL_MSEC(10)));
    say("inner", coil_scope_exit(&inner, 0));
    rc = say("group", coil_sleep(1));
    say("group exit", coil_group_exit(&g, rc));
    say("outermost", coil_sleep(COIL_MSEC(10)));
    say("outer", coil_scope_exit(&outer, 0));
    return say("then", coil_sleep(1));
}

TASK_TEST(shields_nest_and_each_holds_what_comes_from_outside_it)
{
    coil_task *t = start(group_between_shields, NULL);

    coil_task_cancel(t, NULL);
    CHECK_INT(test_join(t), -ECANCELED);
    CHECK_TRACE("innermost:0 inner:0 group:-125 group exit:-5 outermost:0 outer:0 "
                "then:-125 ");
    CHECK_INT(test_join(start(group_between_shields, NULL)), 0);
    CHECK_TRACE(
        "innermost:0 inner:0 group:-125 group exit:-5 outermost:0 outer:0 then:0 ");
}

static int group_ended_in_a_shield(void *arg)
{
    coil_scope shield;
    coil_group g;

    (void)arg;
    CHECK_INT(coil_scope_enter_shielded(&shield, COIL_NEVER), 0);
    say("before", coil_sleep(COIL_MSEC(10)));
    coil_group_enter(&g);
    coil_group_cancel(&g, NULL);
    say("group", coil_group_exit(&g, 0));
    say("inside", coil_sleep(1));
    say("exit", coil_scope_exit(&shield, 0));
    return say("then", coil_sleep(1));
}

/*
 * When a group ends, its own undelivered request is dropped, even while another request
 * is being held back.
 */
TASK_TEST(a_request_taken_back_in_a_shield_leaves_nothing_behind)
{
    coil_task *t = start(group_ended_in_a_shield, NULL);

    coil_task_cancel(t, NULL);
    CHECK_INT(test_join(t), -ECANCELED);
    CHECK_TRACE("before:0 group:0 inside:0 exit:0 then:-125 ");
}

static int await_in_a_shield(void *arg)
{
    coil_scope s;
    int rc;

    CHECK_INT(coil_scope_enter_shielded(&s, COIL_NEVER), 0);
    rc = say("awaited", coil_task_await(arg));
    say("exit", coil_scope_exit(&s, rc));
    return say("then", coil_yield());
}

TASK_TEST(shield_keeps_a_request_from_what_is_awaited)
{
    int64_t limit = COIL_SEC(1);
    coil_task *inner = start(clean_up, &limit), *outer = start(await_in_a_shield, inner);

    coil_task_cancel(outer, NULL);
    CHECK_INT(coil_task_cancelling(inner), 0);
    CHECK_INT(test_join(outer), -ECANCELED);
    CHECK_TRACE("work:0 cleanup:0 exit:0 after:0 awaited:0 exit:0 then:-125 ");
    coil_task_release(inner);
}

/* ---- misuse ------------------------------------------------------------------------ */

static int leave_open(void *arg)
{
    static coil_scope s;
    int rc = coil_scope_enter(&s, COIL_NEVER);

    (void)arg;
    return rc + 1;
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

static int leave_twice(void *arg)
{
    coil_scope a;

    (void)arg;
    coil_scope_enter(&a, COIL_NEVER);
    coil_scope_exit(&a, 0);
    return coil_scope_exit(&a, 0);
}

static void run_leave_twice(void *arg)
{
    (void)arg;
    coil_run(leave_twice, NULL, NULL);
}

static void enter_without_a_task(void *arg)
{
    coil_scope s;

    (void)arg;
    coil_scope_enter(&s, COIL_NEVER);
}

TEST(scopes_misused_stop_the_program_with_a_sentence)
{
    test_dies(enter_without_a_task, NULL, "coil_scope_enter: no task is running");
    test_dies(run_leave_open, NULL, "has ended with a scope open, entered at leave_open");
    test_dies(run_cross_over, NULL, "has a scope open, entered at cross_over");
    test_dies(run_leave_twice, NULL, "it was left before");
}

TASK_TEST(scope_exit_count_returns_large_counts)
{
    coil_scope s;

    coil_scope_enter(&s, coil_in(COIL_MSEC(10)));
    CHECK_INT(coil_scope_exit_count(&s, (ssize_t)1 << 40), (ssize_t)1 << 40);
    coil_scope_enter(&s, COIL_NEVER);
    CHECK_INT(coil_scope_exit_count(&s, -EPIPE), -EPIPE);
    coil_scope_enter(&s, coil_in(COIL_MSEC(10)));
    CHECK_INT(coil_scope_exit_count(&s, coil_sleep(COIL_SEC(1))), -ETIMEDOUT);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
}
